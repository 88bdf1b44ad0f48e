// SPDX-License-Identifier: Apache-2.0
// Loads a shared object like the release's C++ AotExecutor: it gets the metadata, creates the
// tensors that these describe, and calls the entry function that they name.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/tvm_compat/release.h"

namespace tvm09 {
namespace {

std::vector<int64_t> ShapeOf(const TensorInfo& info) {
  return {info.shape, info.shape + info.num_shape};
}

// Executor, convention and code generator, as in the names of files.
class AotTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const PackedFunction getter = library_.Function("get_c_metadata");
    ASSERT_NE(getter, nullptr);
    Value result = {.v_int64 = 0};
    int code = kNull;
    ASSERT_EQ(getter(nullptr, nullptr, 0, &result, &code, nullptr), 0);
    ASSERT_EQ(code, kHandle);
    metadata_ = static_cast<const Metadata*>(result.v_handle);
  }

  // Returns inputs and outputs. If the model declares workspace pools, also returns one array of
  // bytes for all constant pools, which may be empty, and one for each workspace pool.
  std::vector<Array> Arguments() {
    std::vector<Array> arrays;
    for (int64_t i = 0; i < metadata_->num_inputs; ++i) {
      arrays.emplace_back(ShapeOf(metadata_->inputs[i]), metadata_->inputs[i].dtype);
    }
    for (int64_t i = 0; i < metadata_->num_outputs; ++i) {
      arrays.emplace_back(ShapeOf(metadata_->outputs[i]), metadata_->outputs[i].dtype);
    }
    if (metadata_->num_workspace_pools == 0) return arrays;
    EXPECT_EQ(metadata_->num_constant_pools, 0) << "constants are in the code";
    arrays.emplace_back(std::vector<int64_t>{0}, DataType{1, 8, 1});
    for (int64_t i = 0; i < metadata_->num_workspace_pools; ++i) {
      arrays.emplace_back(ShapeOf(metadata_->workspace_pools[i]),
                          metadata_->workspace_pools[i].dtype);
    }
    return arrays;
  }

  PackedFunction Entry() {
    return library_.Function(std::string(metadata_->mod_name) + "___tvm_main__");
  }

  const Library library_{"tests/tvm_compat/" + GetParam() + ".shared/chain.so"};
  const Metadata* metadata_ = nullptr;
};

TEST_P(AotTest, MetadataOfTheRelease) {
  EXPECT_EQ(metadata_->version, 1);
  EXPECT_STREQ(metadata_->mod_name, "tvmgen_chain");
  ASSERT_EQ(metadata_->num_inputs, 2);
  EXPECT_STREQ(metadata_->inputs[0].name, "x");
  EXPECT_EQ(ShapeOf(metadata_->inputs[0]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(metadata_->inputs[0].dtype.code, 2);
  EXPECT_EQ(metadata_->inputs[0].dtype.bits, 32);
  EXPECT_EQ(metadata_->inputs[0].dtype.lanes, 1);
  EXPECT_STREQ(metadata_->inputs[1].name, "n");
  EXPECT_EQ(metadata_->inputs[1].dtype.code, 0);
  // Outputs have these names, independent of their names in the model.
  ASSERT_EQ(metadata_->num_outputs, 2);
  EXPECT_STREQ(metadata_->outputs[0].name, "output0");
  EXPECT_STREQ(metadata_->outputs[1].name, "output1");
  EXPECT_EQ(ShapeOf(metadata_->outputs[0]), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(metadata_->num_constant_pools, 0);
  for (int64_t i = 0; i < metadata_->num_workspace_pools; ++i) {
    const TensorInfo& pool = metadata_->workspace_pools[i];
    EXPECT_NE(pool.name, nullptr);
    EXPECT_EQ(pool.num_shape, 1);
    EXPECT_GT(pool.shape[0], 0);
    EXPECT_EQ(pool.dtype.code, 1);
    EXPECT_EQ(pool.dtype.bits, 8);
  }
}

TEST_P(AotTest, RunsAsTheExecutorCallsIt) {
  ASSERT_NE(Entry(), nullptr);
  std::vector<Array> arrays = Arguments();
  for (int i = 0; i < 6; ++i) arrays[0].data<float>()[i] = static_cast<float>(i);
  for (int i = 0; i < 4; ++i) arrays[1].data<int32_t>()[i] = i - 2;
  std::vector<Tensor*> tensors;
  for (Array& array : arrays) tensors.push_back(array.tensor());
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(CallWithTensors(Entry(), tensors), 0) << LastError();
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(arrays[2].data<float>()[i], i < 5 ? 12.0f : 48.0f) << i;
    }
    for (int i = 0; i < 4; ++i) EXPECT_EQ(arrays[3].data<int32_t>()[i], 2 * (i - 2));
  }
  EXPECT_EQ(OpenWorkspaces(), 0);
}

TEST_P(AotTest, RefusesWrongArguments) {
  std::vector<Array> arrays = Arguments();
  std::vector<Tensor*> tensors;
  for (Array& array : arrays) tensors.push_back(array.tensor());
  std::vector<Tensor*> fewer(tensors.begin(), tensors.begin() + 3);
  EXPECT_NE(CallWithTensors(Entry(), fewer), 0);
  EXPECT_NE(LastError().find("arguments"), std::string::npos) << LastError();
  Array other({2, 4}, {2, 32, 1});
  tensors[0] = other.tensor();
  EXPECT_NE(CallWithTensors(Entry(), tensors), 0);
  EXPECT_NE(LastError().find("shape"), std::string::npos) << LastError();
}

std::vector<std::string> Ways() {
  std::vector<std::string> ways;
  for (const std::string codegen : Codegens()) {
    ways.push_back("aot_" + codegen);
    ways.push_back("aot_packed_" + codegen);
  }
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Way, AotTest, testing::ValuesIn(Ways()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tvm09
