// SPDX-License-Identifier: Apache-2.0
// Libraries built by TVM 0.9, in Kiln's C++ runtime.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;

constexpr char kAot[] = "tests/tvm_compat/tvm_aot.so";
constexpr char kGraph[] = "tests/tvm_compat/tvm_graph.so";

NDArray Floats(const std::vector<float>& values) {
  NDArray array =
      NDArray::Empty({static_cast<int64_t>(values.size())}, DataTypeOf<float>()).value();
  std::copy(values.begin(), values.end(), array.values<float>().begin());
  return array;
}

std::vector<std::string> Names(const std::vector<ParameterInfoView>& params) {
  std::vector<std::string> names;
  for (const ParameterInfoView& param : params) names.emplace_back(param.relay_name_hint());
  return names;
}

TEST(TvmLibrary, AotModelRuns) {
  const absl::StatusOr<Model> model = Model::Load(kAot);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->name(), "default");
  EXPECT_EQ(model->inputs()[0].alignment_bytes, 64u);  // TVM's code may assume this alignment
  const auto outputs = model->Run({Floats({1, 2, 3, 4})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(outputs->at(0).values<float>(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(outputs->at(1).values<int8_t>(), ElementsAre(2, 4, 6, 8));
}

TEST(TvmLibrary, GraphModelRuns) {
  const absl::StatusOr<Model> model = Model::Load(kGraph);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto outputs = model->Run({Floats({1, 2, 3, 4})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(outputs->at(0).values<float>(), ElementsAre(2, 4, 6, 8));
}

TEST(TvmLibrary, ExecutorByName) {
  for (const char* const path : {kAot, kGraph}) {
    const Module factory = Module::LoadFromFile(path).value();
    const absl::StatusOr<Value> made = factory["default"](kCpu);
    ASSERT_TRUE(made.ok()) << made.status();
    const Module executor(made->Module().value());
    ASSERT_TRUE(executor["set_input"]("x", Floats({5, 6, 7, 8})).ok());
    ASSERT_TRUE(executor["run"]().ok());
    EXPECT_THAT(executor["get_output"](0)->Array()->values<float>(), ElementsAre(6, 8, 10, 12));
  }
}

TEST(TvmLibrary, DescriptionOfAnAotModel) {
  const Module factory = Module::LoadFromFile(kAot).value();
  const absl::StatusOr<ModelMetadataModule> module = ModelMetadataModule::Find(factory);
  ASSERT_TRUE(module.ok()) << module.status();
  const ModelMetadata metadata = module->get_model_metadata().value();
  EXPECT_TRUE(CheckMetadata(&metadata.c_struct()).ok());
  EXPECT_FALSE(metadata.is_complete());
  EXPECT_EQ(metadata.module_name(), "default");
  EXPECT_EQ(metadata.executor(), "aot");
  EXPECT_EQ(metadata.target(), "unknown");
  ASSERT_EQ(metadata.num_functions(), 1);
  const FunctionInfoView main = metadata.run_model();
  EXPECT_EQ(main.function_name(), "tvmgen_default___tvm_main__");
  EXPECT_THAT(Names(main.inputs()), ElementsAre("x"));
  EXPECT_THAT(Names(main.outputs()), ElementsAre("output0", "output1"));
  EXPECT_THAT(main.outputs()[1].shape(), ElementsAre(2, 2));
  EXPECT_EQ(main.workspace_size_bytes(), 96);
  EXPECT_EQ(main.constant_size_bytes(), 16);
  EXPECT_EQ(main.io_size_bytes(), 36);
  ASSERT_EQ(metadata.pools().size(), 3u);
  EXPECT_STREQ(metadata.pools()[0].name, "fast_var");
  EXPECT_EQ(metadata.pools()[1].size_bytes, 80);
  EXPECT_EQ(metadata.pools()[2].buffers[0].offset_bytes, 32);
}

TEST(TvmLibrary, DescriptionOfAGraph) {
  const absl::StatusOr<ModelMetadata> metadata =
      ModelMetadata::Find(Module::LoadFromFile(kGraph).value());
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_TRUE(CheckMetadata(&metadata->c_struct()).ok());
  EXPECT_EQ(metadata->executor(), "graph");
  EXPECT_EQ(metadata->module_name(), "default");
  EXPECT_EQ(metadata->run_model().function_name(), "");
  EXPECT_THAT(Names(metadata->run_model().inputs()), ElementsAre("x", "p0"));
  EXPECT_THAT(Names(metadata->run_model().outputs()), ElementsAre("output0"));
  ASSERT_EQ(metadata->num_functions(), 2);
  EXPECT_EQ(metadata->function(1).function_name(), "tvmgen_default_fused_add");
  EXPECT_EQ(metadata->function(1).io_size_bytes(), 48);
}

}  // namespace
}  // namespace kiln::runtime
