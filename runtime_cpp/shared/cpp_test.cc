// SPDX-License-Identifier: Apache-2.0
// Tests of the C++ classes in kiln/runtime.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kiln/runtime.hpp"

namespace {

using ::kiln::DataTypeOf;
using ::kiln::Executor;
using ::kiln::Model;
using ::kiln::Module;
using ::kiln::NDArray;
using ::kiln::Result;
using ::kiln::Span;
using ::kiln::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kLibrary[] = "runtime_cpp/testdata/add_aot.so";

NDArray Array(const std::vector<float>& values) {
  NDArray array =
      NDArray::Empty({static_cast<int64_t>(values.size())}, DataTypeOf<float>()).value();
  std::copy(values.begin(), values.end(), array.values<float>().begin());
  return array;
}

std::vector<float> ValuesOf(const NDArray& array) {
  const Span<float> values = array.values<float>();
  return {values.begin(), values.end()};
}

TEST(Model, RunsOnArrays) {
  const Result<Model> model = Model::Load(kLibrary);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->name(), "add");
  ASSERT_EQ(model->inputs().size(), 2);
  EXPECT_EQ(model->inputs()[1].name, "y:0");
  EXPECT_THAT(model->inputs()[1].shape, ElementsAre(4));
  EXPECT_EQ(model->inputs()[1].size_bytes, 16);
  EXPECT_EQ(model->InputIndex("y:0").value(), 1);
  EXPECT_EQ(model->OutputIndex("none").status().code(), KILN_NOT_FOUND);
  const Result<std::vector<NDArray>> outputs =
      model->Run({Array({1, 2, 3, 4}), Array({10, 20, 30, 40})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs->size(), model->outputs().size());
  EXPECT_THAT(ValuesOf((*outputs)[0]), ElementsAre(12, 24, 36, 48));
  EXPECT_EQ(model->Run({Array({1, 2, 3, 4})}).status().code(), KILN_INVALID_ARGUMENT);
}

TEST(Model, RunsOnMemoryOfTheCaller) {
  const Model model = Model::Load(kLibrary).value();
  const NDArray x = Array({1, 2, 3, 4}), y = Array({1, 1, 1, 1});
  const std::array<const DLTensor*, 2> inputs = {x.tensor(), y.tensor()};
  std::vector<NDArray> outputs = model.Run(inputs).value();
  std::vector<DLTensor> tensors;
  for (const NDArray& output : outputs) tensors.push_back(*output);
  std::vector<DLTensor*> targets;
  for (DLTensor& tensor : tensors) targets.push_back(&tensor);
  outputs[0].values<float>()[0] = 0;
  EXPECT_TRUE(model.Run(inputs, targets).ok());
  EXPECT_EQ(outputs[0].values<float>()[0], 3);
  const size_t alignment = Model::Alignment();
  std::vector<char> memory(static_cast<size_t>(model.workspace_bytes()) + alignment);
  const size_t begin = alignment - reinterpret_cast<uintptr_t>(memory.data()) % alignment;
  const Span<char> workspace(memory.data() + begin % alignment,
                             static_cast<size_t>(model.workspace_bytes()));
  EXPECT_TRUE(model.Run(inputs, targets, workspace).ok());
  if (model.workspace_bytes() > 0) {
    EXPECT_EQ(model.Run(inputs, targets, Span<char>()).code(), KILN_INVALID_ARGUMENT);
  }
}

TEST(Model, MayBeRunByManyThreads) {
  const Model model = Model::Load(kLibrary).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([model, i] {
      const auto value = static_cast<float>(i);
      for (int run = 0; run < 100; ++run) {
        const auto outputs = model.Run({Array({value, 0, 0, 0}), Array({1, 0, 0, 0})});
        ASSERT_TRUE(outputs.ok());
        EXPECT_EQ((*outputs)[0].values<float>()[0], 2 * value + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Load, ReportsCodesAndTexts) {
  const Result<Model> none = Model::Load("none.so");
  EXPECT_EQ(none.status().code(), KILN_NOT_FOUND);
  EXPECT_THAT(none.status().message(), HasSubstr("none.so"));
  EXPECT_DEATH(none.value(), "none.so");
  const std::string seen = "a verifier that saw the bytes";
  const auto refuse = [&](const std::string& path, Span<const char> bytes) {
    EXPECT_EQ(path, kLibrary);
    EXPECT_EQ(std::string(bytes.data(), 4), "\177ELF");
    return Status(KILN_UNAUTHENTICATED, seen + std::string(1000, '.'));
  };
  const Result<Module> refused = Module::LoadFromFile(kLibrary, {true, refuse});
  EXPECT_EQ(refused.status().code(), KILN_UNAUTHENTICATED);
  EXPECT_THAT(refused.status().message(), HasSubstr(seen));
  const auto accept = [](const std::string&, Span<const char>) { return Status(); };
  EXPECT_TRUE(Module::LoadFromFile(kLibrary, {true, accept}).ok());
  EXPECT_EQ(Executor::Create(Module()).status().code(), KILN_INVALID_ARGUMENT);
}

TEST(Executor, SetsAndGets) {
  const Module module = Module::LoadFromFile(kLibrary).value();
  Executor executor = Executor::Create(module).value();
  EXPECT_EQ(executor.num_inputs(), 2);
  EXPECT_EQ(executor.input_infos()[0].name, "x");
  EXPECT_EQ(executor.output_infos().size(), static_cast<size_t>(executor.num_outputs()));
  EXPECT_EQ(executor.Run().code(), KILN_FAILED_PRECONDITION);
  EXPECT_TRUE(executor.SetInput("x", *Array({1, 2, 3, 4})).ok());
  const NDArray y = Array({5, 5, 5, 5}), output = Array({0, 0, 0, 0});
  EXPECT_TRUE(executor.SetInputZeroCopy("y:0", y).ok());
  EXPECT_TRUE(executor.SetOutputZeroCopy(0, output).ok());
  EXPECT_TRUE(executor.Run().ok());
  EXPECT_THAT(ValuesOf(output), ElementsAre(7, 9, 11, 13));
  EXPECT_EQ(executor.GetOutput(0).value().data(), output.data());
  y.values<float>()[0] = 0;
  EXPECT_TRUE(executor.Run().ok());
  EXPECT_EQ(output.values<float>()[0], 2);
  EXPECT_EQ(executor.GetInput("x").value().values<float>()[3], 4);
  EXPECT_EQ(executor.SetInput("none", *y).code(), KILN_NOT_FOUND);
  EXPECT_EQ(executor.TimeEvaluator({2, 3, 0}).value().size(), 3);
  EXPECT_EQ(executor.Profile().status().code(), KILN_FAILED_PRECONDITION);
}

TEST(Executor, KeepsState) {
  const Model model = Model::Load("runtime_cpp/testdata/add_aot_state.so").value();
  EXPECT_EQ(model.origin().compiler, "by hand");
  EXPECT_EQ(model.origin().model_sha256, "ab12");
  EXPECT_EQ(model.origin().options_sha256, "cd34");
  EXPECT_THAT(model.origin().properties, ElementsAre(Pair("names", "sum"), Pair("note", "")));
  ASSERT_EQ(model.states().size(), 1);
  EXPECT_EQ(model.states()[0].input, "x");
  EXPECT_EQ(model.states()[0].output, "output0");
  EXPECT_EQ(model.states()[0].initial_value, 1.5);
  Executor executor = model.MakeExecutor().value();
  EXPECT_EQ(executor.states().size(), 1);
  EXPECT_TRUE(executor.keep_state(true).ok());
  EXPECT_TRUE(executor.SetInput("y:0", *Array({0, 0, 0, 0})).ok());
  for (const float wanted : {3.0f, 6.0f, 12.0f}) {
    EXPECT_TRUE(executor.Run().ok());
    EXPECT_EQ(executor.GetOutput(0).value().values<float>()[0], wanted);
  }
  EXPECT_TRUE(executor.ResetState().ok());
  EXPECT_TRUE(executor.Run().ok());
  EXPECT_EQ(executor.GetOutput(0).value().values<float>()[0], 3);
}

TEST(RunOptions, EndRuns) {
  const auto pool = kiln::ThreadPool::Create({2, {}}).value();
  const Model model = Model::Load(kLibrary).value().WithThreadPool(pool).value();
  EXPECT_EQ(model.num_threads(), 2);
  EXPECT_EQ(model.constant_bytes(), 0);
  EXPECT_TRUE(model.Prefault().ok());
  const std::vector<NDArray> inputs = {Array({1, 2, 3, 4}), Array({1, 1, 1, 1})};
  std::vector<KilnCode> codes;
  EXPECT_TRUE(kiln::SetRunObserver([&](const kiln::RunEvent& run) {
                codes.push_back(run.status.code());
              }).ok());
  kiln::CancellationToken token;
  kiln::RunOptions options;
  options.cancellation = &token;
  EXPECT_TRUE(model.Run(inputs, options).ok());
  token.Cancel();
  EXPECT_EQ(model.Run(inputs, options).status().code(), KILN_CANCELLED);
  options = {};
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(model.Run(inputs, options).status().code(), KILN_DEADLINE_EXCEEDED);
  Executor executor = model.MakeExecutor().value();
  executor.SetThreadPool(pool);
  EXPECT_EQ(executor.Run().code(), KILN_FAILED_PRECONDITION);
  EXPECT_TRUE(kiln::SetRunObserver(nullptr).ok());
  EXPECT_TRUE(model.Run(inputs).ok());
  EXPECT_THAT(codes, ElementsAre(KILN_OK, KILN_CANCELLED, KILN_DEADLINE_EXCEEDED,
                                 KILN_FAILED_PRECONDITION));
  EXPECT_EQ(kiln::ThreadPool::Create({0, {-1}}).status().code(), KILN_INVALID_ARGUMENT);
}

TEST(NDArray, HoldsElementsOfAType) {
  const NDArray bools = NDArray::Empty({3}, DataTypeOf<bool>()).value();
  EXPECT_TRUE(bools.holds<bool>());
  EXPECT_TRUE(bools.holds<uint8_t>());
  EXPECT_FALSE(bools.holds<int8_t>());
  EXPECT_EQ(bools.size_bytes(), 3);
  EXPECT_FALSE(NDArray().holds<float>());
  EXPECT_DEATH(bools.values<float>(), "does not hold");
  EXPECT_EQ(NDArray::Empty({-1}, DataTypeOf<float>()).status().code(), KILN_INVALID_ARGUMENT);
}

TEST(NDArray, PassesThroughDLPack) {
  const NDArray array = Array({1, 2});
  DLManagedTensor* managed = array.ToDLPack().value();
  const NDArray shared = NDArray::FromDLPack(managed).value();
  EXPECT_EQ(shared.data(), array.data());
  const NDArray copy = Array({0, 0});
  EXPECT_TRUE(copy.CopyFrom(*shared).ok());
  EXPECT_THAT(ValuesOf(copy), ElementsAre(1, 2));
  EXPECT_EQ(copy.CopyFrom(*Array({1, 2, 3})).code(), KILN_INVALID_ARGUMENT);
}

}  // namespace
