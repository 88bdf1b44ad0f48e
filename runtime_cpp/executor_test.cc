// SPDX-License-Identifier: Apache-2.0
//
// End-to-end tests of both executors on libraries as the compiler makes them.
#include "runtime_cpp/executor.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/testdata/floats.h"
#include "runtime_cpp/workspace_pool.h"
#include "runtime_cpp/workspaces.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kAotProfile[] = "runtime_cpp/testdata/add_aot_profile.so";
constexpr char kAotScratch[] = "runtime_cpp/testdata/add_aot_scratch.so";
constexpr char kAotState[] = "runtime_cpp/testdata/add_aot_state.so";
constexpr char kAotStateInPlace[] = "runtime_cpp/testdata/add_aot_state_in_place.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";

Module Load(const char* path) {
  absl::StatusOr<Module> module = Module::LoadFromFile(path);
  EXPECT_TRUE(module.ok()) << module.status();
  return *module;
}

std::shared_ptr<Executor> Make(const char* path) {
  absl::StatusOr<std::shared_ptr<Executor>> executor = Executor::Create(Load(path), kCpu);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *executor;
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

TEST(AotExecutor, RunsTyped) {
  const std::shared_ptr<Executor> executor = Make(kAot);
  EXPECT_EQ(executor->num_inputs(), 2);
  EXPECT_EQ(executor->num_outputs(), 1);
  EXPECT_EQ(executor->GetInputIndex("y:0").value(), 1);
  ASSERT_TRUE(executor->SetInput("x", *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(1, *Floats({10, 20, 30, 40})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(12, 24, 36, 48));
  EXPECT_THAT(executor->input_infos()[0].quantization.scales, ElementsAre(0.5f));
}

TEST(GraphExecutor, RunsTyped) {
  const std::shared_ptr<Executor> executor = Make(kGraph);
  EXPECT_EQ(executor->num_inputs(), 3);
  EXPECT_TRUE(executor->IsParam(2));
  ASSERT_TRUE(executor->SetInput("x", *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput("y", *Floats({10, 20, 30, 40})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput("output0")->values<float>(), ElementsAre(110, 220, 330, 440));
  EXPECT_THAT(executor->GetOutput(0)->shape(), ElementsAre(2, 2));
  EXPECT_THAT(executor->GetOutput(1)->values<float>(), ElementsAre(1, 2, 3, 4));
}

class BothExecutors : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, BothExecutors, testing::Values(kAot, kGraph));

TEST_P(BothExecutors, RunByName) {
  const Module factory = Load(GetParam());
  EXPECT_EQ(factory["list_module_names"]()->String().value(), "add");
  const Module executor(factory["add"](kCpu)->Module().value());
  ASSERT_TRUE(executor["set_input"]("x", Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor["set_input"](1, Floats({1, 1, 1, 1}).tensor()).ok());
  ASSERT_TRUE(executor["run"]().ok());
  const NDArray output = executor["get_output"](0)->Array().value();
  const NDArray copy = NDArray::Empty(output.shape(), kFloat32).value();
  ASSERT_TRUE(executor["get_output"](0, copy).ok());
  EXPECT_EQ(copy.values<float>(), output.values<float>());
  EXPECT_EQ(executor["get_num_inputs"]()->Int().value(), factory.type_key()[0] == 'A' ? 2 : 3);
  EXPECT_EQ(executor["get_input_index"]("x")->Int().value(), 0);
  EXPECT_EQ(executor["get_input_index"]("nobody")->Int().value(), -1);
  EXPECT_EQ(executor["get_input_name"](0)->String().value(), "x");
  EXPECT_THAT(executor["get_input"]("x")->Array()->values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(executor["get_input_info"]()->String().value(),
              testing::AllOf(HasSubstr(R"("x":[4])"), HasSubstr(R"("x":"float32")")));
  EXPECT_THAT(executor["get_func_names"]()->String().value(), HasSubstr("set_input_zero_copy"));
}

TEST_P(BothExecutors, ErrorsSayWhatWasFoundAndWanted) {
  const std::shared_ptr<Executor> executor = Make(GetParam());
  EXPECT_THAT(Text(executor->SetInput("z", *Floats({1}))),
              HasSubstr("the model has no input 'z'; it has 'x', 'y"));
  EXPECT_THAT(Text(executor->SetInput(9, *Floats({1}))), HasSubstr("input 9: the model has"));
  EXPECT_EQ(Text(executor->SetInput(0, *Floats({1, 2}))),
            "input 'x' (index 0): found float32 (2), wanted float32 (4)");
  EXPECT_EQ(Text(executor->SetInput(0, *NDArray::Empty({4}, {kDLInt, 8, 1}).value())),
            "input 'x' (index 0): found int8 (4), wanted float32 (4)");
  EXPECT_THAT(Text(executor->GetOutput(-1).status()), HasSubstr("output -1: the model has"));
  EXPECT_THAT(Text(executor->Run()), HasSubstr("inputs are set; missing: 'x', 'y"));
  EXPECT_THAT(Text(MakeExecutorModule(executor)["set_input"]("x").status()),
              HasSubstr("set_input: found 1 arguments, wanted 2"));
  EXPECT_THAT(Text(MakeExecutorModule(executor)["set_inptu"]("x").status()),
              HasSubstr("has no function 'set_inptu'; it has get_input, "));
}

TEST_P(BothExecutors, DeviceWithoutBackEndIsNamed) {
  const Module factory = Load(GetParam());
  EXPECT_THAT(Text(factory["add"](DLDevice{kDLCUDA, 0}).status()),
              HasSubstr("device cuda:0 has no back end"));
  EXPECT_THAT(Text(factory["add"](DLDevice{kDLCPU, 3}).status()),
              HasSubstr("device cpu:3 does not exist"));
  EXPECT_FALSE(Executor::Create(factory, {kDLHexagon, 0}).ok());
}

TEST_P(BothExecutors, ZeroCopyUsesTheCallersMemory) {
  const std::shared_ptr<Executor> executor = Make(GetParam());
  const NDArray x = Floats({1, 2, 3, 4});
  const NDArray y = Floats({0, 0, 0, 0});
  const NDArray output = NDArray::Empty(executor->output_infos()[0].shape, kFloat32).value();
  ASSERT_TRUE(executor->SetInputZeroCopy("x", x).ok());
  ASSERT_TRUE(executor->SetInputZeroCopy(1, y).ok());
  ASSERT_TRUE(executor->SetOutputZeroCopy(0, output).ok());
  ASSERT_TRUE(executor->Run().ok());
  const float first = output.values<float>()[0];
  x.values<float>()[0] = 2;
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(output.values<float>()[0], 2 * first);
  EXPECT_EQ(executor->GetInput(0)->data(), x.data());
  EXPECT_EQ(executor->GetOutput(0)->data(), output.data());
  // SetInput copies into the executor's own memory, which is then used again.
  ASSERT_TRUE(executor->SetInput("x", *x).ok());
  EXPECT_NE(executor->GetInput(0)->data(), x.data());
}

TEST_P(BothExecutors, ZeroCopyChecksAlignmentDeviceAndStrides) {
  const std::shared_ptr<Executor> executor = Make(GetParam());
  const NDArray storage = Floats({0, 1, 2, 3, 4, 5, 6, 7});
  int64_t shape = 4;
  int64_t stride = 2;
  DLTensor tensor = {.data = storage.data(),
                     .device = kCpu,
                     .ndim = 1,
                     .dtype = kFloat32,
                     .shape = &shape,
                     .strides = nullptr,
                     .byte_offset = 2};
  EXPECT_EQ(Text(executor->SetInputZeroCopy(0, NDArray::Borrow(tensor))),
            "input 'x' (index 0): found data aligned to 2 bytes, wanted 4");
  tensor.byte_offset = 4;
  EXPECT_TRUE(executor->SetInputZeroCopy(0, NDArray::Borrow(tensor)).ok());
  EXPECT_TRUE(executor->SetInput(0, tensor).ok());
  EXPECT_THAT(executor->GetInput(0)->values<float>(), ElementsAre(1, 2, 3, 4));
  tensor.byte_offset = 0;
  tensor.device = {kDLCUDA, 0};
  EXPECT_EQ(Text(executor->SetInputZeroCopy(0, NDArray::Borrow(tensor))),
            "input 'x' (index 0): found memory on cuda:0, wanted cpu:0");
  tensor.device = kCpu;
  tensor.strides = &stride;
  EXPECT_THAT(Text(executor->SetInput(0, tensor)), HasSubstr("wanted compact row-major"));
}

// The state x begins with 1.5 and becomes (x + y) + x.
TEST(State, IsPassedOnWithoutACopy) {
  const std::shared_ptr<Executor> executor = Make(kAotState);
  ASSERT_EQ(executor->states().size(), 1u);
  EXPECT_EQ(executor->states()[0].input, "x");
  EXPECT_EQ(executor->states()[0].output, "output0");
  EXPECT_EQ(executor->states()[0].initial_value, 1.5);
  ASSERT_TRUE(executor->SetInput("y:0", *Floats({0, 1, 2, 3})).ok());
  EXPECT_THAT(Text(executor->Run()), HasSubstr("missing: 'x'"));
  ASSERT_TRUE(executor->keep_state(true).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(3, 4, 5, 6));
  const void* const written = executor->GetOutput(0)->data();
  // GetInput returns the memory that the next run reads.
  EXPECT_EQ(executor->GetInput("x")->data(), written);
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(6, 9, 12, 15));
  EXPECT_NE(executor->GetOutput(0)->data(), written);
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(executor->GetOutput(0)->data(), written);
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(12, 19, 26, 33));
  ASSERT_TRUE(executor->ResetState().ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(3, 4, 5, 6));
}

TEST(State, ThatIsSetIsTheNextRuns) {
  const std::shared_ptr<Executor> executor = Make(kAotState);
  ASSERT_TRUE(executor->keep_state(true).ok());
  ASSERT_TRUE(executor->SetInput("y:0", *Floats({0, 0, 0, 0})).ok());
  ASSERT_TRUE(executor->Run().ok());
  ASSERT_TRUE(executor->SetInput("x", *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(2, 4, 6, 8));
  // The input can be changed in the memory that the last run wrote.
  executor->GetInput("x")->values<float>()[0] = 10;
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(20, 8, 12, 16));
  // The value is kept if memory of the caller replaces the output.
  const NDArray output = Floats({0, 0, 0, 0});
  ASSERT_TRUE(executor->SetOutputZeroCopy(0, output).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(output.values<float>(), ElementsAre(40, 16, 24, 32));
  // Without keep_state, the state does not change.
  ASSERT_TRUE(executor->keep_state(false).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(80, 32, 48, 64));
  }
}

TEST(State, IsNotThatOfMeasurements) {
  for (const char* library : {kAotState, kAotStateInPlace}) {
    const std::shared_ptr<Executor> executor = Make(library);
    ASSERT_TRUE(executor->keep_state(true).ok());
    ASSERT_TRUE(executor->SetInput("y:0", *Floats({0, 0, 0, 0})).ok());
    ASSERT_TRUE(executor->Run().ok());
    ASSERT_TRUE(executor->TimeEvaluator({.number = 3}).ok());
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(6, 6, 6, 6)) << library;
  }
}
TEST(State, ThatIsInPlaceHasOneMemory) {
  const std::shared_ptr<Executor> executor = Make(kAotStateInPlace);
  EXPECT_TRUE(executor->states()[0].is_in_place);
  ASSERT_TRUE(executor->SetInput("y:0", *Floats({0, 1, 2, 3})).ok());
  const void* const memory = executor->GetInput("x")->data();
  EXPECT_NE(executor->GetOutput(0)->data(), memory);
  ASSERT_TRUE(executor->keep_state(true).ok());
  for (int sequence = 0; sequence < 2; ++sequence) {
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(3, 4, 5, 6));
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(6, 9, 12, 15));
    EXPECT_EQ(executor->GetOutput(0)->data(), memory);
    EXPECT_EQ(executor->GetInput("x")->data(), memory);
    ASSERT_TRUE(executor->ResetState().ok());
  }
  ASSERT_TRUE(executor->Run().ok());
  ASSERT_TRUE(executor->SetInput("x", *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(2, 5, 8, 11));
  // Memory of the caller replaces the output and is exchanged, too.
  const NDArray output = Floats({0, 0, 0, 0});
  ASSERT_TRUE(executor->SetOutputZeroCopy(0, output).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(output.values<float>(), ElementsAre(4, 11, 18, 25));
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(8, 23, 38, 53));
  // Without keep_state, input and output have separate memory, and the state does not change.
  ASSERT_TRUE(executor->keep_state(false).ok());
  EXPECT_NE(executor->GetOutput(0)->data(), executor->GetInput("x")->data());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(16, 47, 78, 109));
  }
}

TEST(State, IsKeptByName) {
  const Module executor = MakeExecutorModule(Make(kAotState));
  ASSERT_TRUE(executor["keep_state"](1).ok());
  ASSERT_TRUE(executor["set_input"]("y:0", Floats({0, 0, 0, 0})).ok());
  for (const float wanted : {3.0f, 6.0f}) {
    ASSERT_TRUE(executor["run"]().ok());
    EXPECT_EQ(executor["get_output"](0)->Array()->values<float>()[0], wanted);
  }
  ASSERT_TRUE(executor["reset_state"]().ok());
  ASSERT_TRUE(executor["run"]().ok());
  EXPECT_EQ(executor["get_output"](0)->Array()->values<float>()[0], 3);
}

TEST(State, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Text(Make(kAot)->keep_state(true)), HasSubstr("the model has no state"));
  const absl::Status wrong =
      Executor::Create(Load("runtime_cpp/testdata/add_aot_wrong_state.so"), kCpu).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Text(wrong), "state 'x': the model has no output 'output1'; it has 'output0'");
}

// Leaves idle blocks of 1 MiB and 4 MiB, like operators that use scratch memory.
void LeaveIdleBlocks() {
  WorkspacePool& pool = WorkspacePool::ThisThread();
  void* const small = pool.Allocate(kCpu, 1 << 20).value();
  void* const large = pool.Allocate(kCpu, 4 << 20).value();
  ASSERT_TRUE(pool.Free(kCpu, large).ok());
  ASSERT_TRUE(pool.Free(kCpu, small).ok());
}

TEST_P(BothExecutors, IdleWorkspacesGoWithTheLastExecutor) {
  TrimWorkspaces();
  std::shared_ptr<Executor> executor = Make(GetParam());
  LeaveIdleBlocks();
  EXPECT_EQ(IdleWorkspaceBytes(), 5u << 20);
  executor.reset();
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
}

TEST_P(BothExecutors, IdleWorkspacesThatOperatorsOfOthersTakeStay) {
  TrimWorkspaces();
  std::shared_ptr<Executor> scratch = Make(kAotScratch), other = Make(GetParam());
  LeaveIdleBlocks();
  other.reset();
  EXPECT_EQ(IdleWorkspaceBytes(), 1u << 20);
  scratch.reset();
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
}

TEST_P(BothExecutors, TimeEvaluator) {
  const std::shared_ptr<Executor> executor = Make(GetParam());
  EXPECT_FALSE(executor->TimeEvaluator().ok());
  ASSERT_TRUE(executor->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(1, *Floats({1, 2, 3, 4})).ok());
  TimeEvaluatorOptions options;
  options.number = 2;
  options.repeat = 3;
  options.min_repeat_ms = 0.1;
  const std::vector<double> seconds = executor->TimeEvaluator(options).value();
  EXPECT_THAT(seconds, testing::SizeIs(3));
  EXPECT_THAT(seconds, testing::Each(testing::Gt(0)));
  const std::string bytes = MakeExecutorModule(executor)["time_evaluator"](1, 4)->String().value();
  EXPECT_EQ(bytes.size(), 4 * sizeof(double));
  options.repeat = 0;
  EXPECT_FALSE(executor->TimeEvaluator(options).ok());
}

TEST(GraphExecutor, ProfilesEachOperator) {
  const std::shared_ptr<Executor> executor = Make(kGraph);
  ASSERT_TRUE(executor->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(1, *Floats({1, 2, 3, 4})).ok());
  const ProfileReport report = executor->Profile().value();
  ASSERT_EQ(report.operators.size(), 2u);
  EXPECT_EQ(report.operators[0].function_name, "tvmgen_add_fused_add");
  EXPECT_EQ(report.operators[0].op_names, "add");
  EXPECT_EQ(report.operators[0].source, "a1");
  EXPECT_EQ(report.operators[0].schedule, "pointwise");
  EXPECT_EQ(report.operators[0].operations, 4);
  EXPECT_EQ(report.operators[0].accessed_bytes, 48);
  EXPECT_GT(report.operators[0].GflopsPerSecond(), 0);
  EXPECT_EQ(report.operators[1].op_names, "multiply");
  EXPECT_EQ(report.operators[1].operations, -1);
  EXPECT_EQ(report.operators[1].GflopsPerSecond(), 0);
  EXPECT_GE(report.total_seconds, report.operators[0].seconds + report.operators[1].seconds);
  EXPECT_THAT(report.ToText(), HasSubstr("tvmgen_add_fused_multiply  multiply\n"));
  EXPECT_THAT(report.ToText(), HasSubstr("tvmgen_add_fused_add  add  pointwise\n"));
  EXPECT_THAT(report.ToJson(), HasSubstr(R"("schedule":"pointwise","operations":4,)"));
  EXPECT_THAT(report.ToJson(), HasSubstr(R"("function_name":"tvmgen_add_fused_add")"));
}

TEST(AotExecutor, ProfileNeedsAModelThatTells) {
  const std::shared_ptr<Executor> silent = Make(kAot);
  ASSERT_TRUE(silent->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(silent->SetInput(1, *Floats({1, 2, 3, 4})).ok());
  EXPECT_THAT(Text(silent->Profile().status()), HasSubstr("compile it with --profile"));
  const std::shared_ptr<Executor> telling = Make(kAotProfile);
  ASSERT_TRUE(telling->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(telling->SetInput(1, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(telling->Run().ok());
  const ProfileReport report = telling->Profile().value();
  ASSERT_EQ(report.operators.size(), 1u);
  EXPECT_EQ(report.operators[0].function_name, "tvmgen_add_fused_add");
  EXPECT_EQ(report.operators[0].calls, 2);
  EXPECT_EQ(report.operators[0].schedule, "naive");
  EXPECT_EQ(report.operators[0].operations, 4);
  EXPECT_DOUBLE_EQ(report.operators[0].GflopsPerSecond() * report.operators[0].seconds, 8e-9);
}

TEST(GraphExecutor, ParamsAreLoadedSharedAndRemoved) {
  const std::string bytes = SaveParams({{"p0", Floats({100})}}).value();
  const std::shared_ptr<Executor> first = Make(kGraph);
  ASSERT_TRUE(first->LoadParams(bytes).ok());
  const Module bare(Load(kGraph)["remove_params"]()->Module().value());
  const Module second(bare["add"](kCpu)->Module().value());
  ASSERT_TRUE(second["set_input"]("x", Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(second["set_input"]("y", Floats({0, 0, 0, 0})).ok());
  EXPECT_THAT(Text(second["run"]().status()), HasSubstr("missing: 'p0'"));
  ASSERT_TRUE(second["share_params"](MakeExecutorModule(first), Bytes{bytes}).ok());
  ASSERT_TRUE(second["run"]().ok());
  EXPECT_THAT(second["get_output"](0)->Array()->values<float>(), ElementsAre(100, 200, 300, 400));
  EXPECT_EQ(second["get_input"]("p0")->Array()->data(), first->GetInput("p0")->data());
  // Setting it again does not affect the other executor.
  ASSERT_TRUE(second["set_input"]("p0", Floats({1})).ok());
  EXPECT_THAT(first->GetInput("p0")->values<float>(), ElementsAre(100));
  const std::string unknown = SaveParams({{"p9", Floats({1})}}).value();
  EXPECT_THAT(Text(first->LoadParams(unknown)), HasSubstr("no input 'p9'"));
}

TEST(Factory, TypedAccess) {
  const ExecutorFactory factory = ExecutorFactory::From(Load(kGraph)).value();
  EXPECT_THAT(factory.module_names(), ElementsAre("add"));
  EXPECT_EQ(factory.params().size(), 1u);
  const Module executor = MakeExecutorModule(factory.Create(kCpu).value());
  EXPECT_EQ(executor.type_key(), "GraphExecutor");
  EXPECT_TRUE(Executor::FromModule(executor).ok());
  EXPECT_THAT(Text(ExecutorFactory::From(executor).status()), HasSubstr("makes no executors"));
  EXPECT_THAT(Text(Executor::FromModule(Load(kAot)).status()), HasSubstr("is not an executor"));
}

}  // namespace
}  // namespace kiln::runtime
