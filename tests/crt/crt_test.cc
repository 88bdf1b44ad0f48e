// SPDX-License-Identifier: Apache-2.0
// A small planned model, compiled by the C code generator for the C runtime: both executors, the
// function registry and the metadata.
#include "compiler/executor/crt.h"

#include <cstring>

#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/executor/aot.h"
#include "compiler/executor/describe.h"
#include "gtest/gtest.h"
#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/graph_executor.h"
#include "tvm/runtime/crt/module.h"

namespace {
const TVMFuncRegistry kNothing = {"\0\0", nullptr};
const TVMModule kNoModel = {&kNothing};
}  // namespace

extern "C" const TVMModule* TVMSystemLibEntryPoint(void) { return &kNoModel; }

namespace kiln {
namespace {

// out = in * factor.
loop::Func Scale(const std::string& name, double factor) {
  const loop::Buffer in = loop::MakeBuffer("in", kF32, {2, 3}, loop::BufferScope::kParam);
  const loop::Buffer out = loop::MakeBuffer("out", kF32, {2, 3}, loop::BufferScope::kParam);
  const loop::Var i = loop::MakeVar("i");
  loop::Func func;
  func.name = name;
  func.convention = loop::Convention::kPacked;
  func.params = {in, out};
  func.num_inputs = 1;
  func.body =
      MakeFor(i, loop::Expr(0), loop::Expr(6), loop::ForKind::kSerial,
              MakeStore(out, {i}, MakeLoad(in, {i}) * FloatConst(loop::Type::Of(kF32), factor)));
  return func;
}

// x -> triple -> (workspace) -> view -> double -> y.
Plan MakeTestPlan() {
  const TensorType type = {{2, 3}, kF32};
  Plan plan;
  plan.buffers = {{.name = "x", .type = type, .kind = PlanBufferKind::kInput, .io_index = 0},
                  {.name = "t", .type = type, .pool = 0, .offset_bytes = 64},
                  {.name = "v", .type = type, .alias_of = 1, .is_view = true},
                  {.name = "y", .type = type, .kind = PlanBufferKind::kOutput, .io_index = 0}};
  plan.calls = {
      {{.function = "tvmgen_m_triple",
        .inputs = {0},
        .outputs = {1},
        .op_names = "multiply",
        .source = "a"},
       {0, 1},
       -1},
      {{.function = "", .inputs = {1}, .outputs = {2}, .op_names = "reshape", .source = "b"},
       {1, 2},
       -1},
      {{.function = "tvmgen_m_double",
        .inputs = {2},
        .outputs = {3},
        .op_names = "multiply",
        .source = "c"},
       {2, 3},
       -1}};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.pools = {{.name = "workspace", .size_bytes = 128, .alignment_bytes = 64}};
  return plan;
}

class CrtTest : public testing::Test {
 protected:
  void SetUp() override {
    program_.funcs = {Scale("tvmgen_m_triple", 3), Scale("tvmgen_m_double", 2)};
    for (int i = 0; i < 6; ++i) {
      x_.push_back(static_cast<float>(i));
      expected_.push_back(static_cast<float>(6 * i));
    }
  }

  void Load() {
    auto source =
        codegen::EmitC(program_, Target::Host(), {.module_name = "m", .loader_pointers = true});
    ASSERT_TRUE(source.ok()) << source.status();
    auto library =
        codegen::LoadedC::Compile(*source, {"gcc", "-std=c99", "-O1", "-Iruntime_crt/include"});
    ASSERT_TRUE(library.ok()) << library.status().message();
    library_ = *std::move(library);
    auto* set_error = TVMAPISetLastError;
    memcpy(library_->Symbol("__TVMAPISetLastError"), &set_error, sizeof(set_error));
  }

  loop::LoopProgram program_;
  const Plan plan_ = MakeTestPlan();
  std::unique_ptr<codegen::LoadedC> library_;
  std::vector<float> x_, expected_;
};

TEST_F(CrtTest, GraphExecutorWalksTheTable) {
  ASSERT_TRUE(AddGraphTable("m", plan_, program_).ok());
  Load();
  if (HasFatalFailure()) return;
  const auto* table = static_cast<const GraphTable*>(library_->Symbol("tvmgen_m_graph"));
  ASSERT_NE(table, nullptr);
  EXPECT_STREQ(table->module_name, "m");
  EXPECT_EQ(table->num_calls, 2);
  EXPECT_STREQ(table->calls[1].function_name, "tvmgen_m_double");
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(table, 1));
  TVMGraphExecutor executor;
  ASSERT_EQ(TVMGraphExecutor_Init(&executor, table, 1, memory.data(), memory.size()),
            kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_GetInputIndex(&executor, "x"), 0);
  memcpy(TVMGraphExecutor_GetPort(&executor, 0), x_.data(), 24);
  ASSERT_EQ(TVMGraphExecutor_Run(&executor), 0) << TVMGetLastError();
  const auto* y = static_cast<const float*>(TVMGraphExecutor_GetPort(&executor, 1));
  EXPECT_EQ(std::vector<float>(y, y + 6), expected_);
}

TEST_F(CrtTest, AotExecutorFindsEverythingInTheRegistry) {
  auto main = RunModel(plan_, program_, "tvmgen_m_run_model");
  ASSERT_TRUE(main.ok()) << main.status();
  for (loop::Func& func : program_.funcs) func.exported = false;
  program_.funcs.push_back(*main);
  program_.funcs.push_back(
      ModelEntry(*main, "tvmgen_m___tvm_main__", loop::Convention::kPacked, 1));
  const proto::Metadata metadata = Describe(plan_, program_,
                                            {.module_name = "m",
                                             .executor = "aot",
                                             .runtime = "crt",
                                             .interface_api = "packed",
                                             .calling_convention = "cpacked",
                                             .target = "host",
                                             .main_function = "tvmgen_m___tvm_main__"});
  AddTvmMetadata(metadata, "tvmgen_m_get_c_metadata", program_);
  AddFunctionRegistry("m", /*system_lib=*/true, {}, program_);
  Load();
  if (HasFatalFailure()) return;
  auto* entry_point = library_->Function<const TVMModule*()>("TVMSystemLibEntryPoint");
  ASSERT_NE(entry_point, nullptr);
  EXPECT_EQ(entry_point(), library_->Symbol("tvmgen_m_module"));
  ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  TVMModuleHandle module;
  ASSERT_EQ(TVMModCreateFromCModule(entry_point(), &module), kTvmErrorNoError);
  TVMFunctionHandle function;
  EXPECT_EQ(TVMModGetFunction(module, "tvmgen_m_triple", 0, &function),
            kTvmErrorFunctionNameNotFound);

  std::vector<uint8_t> memory(4096);
  TVMAotExecutor executor;
  ASSERT_EQ(TVMAotExecutor_Init(&executor, module, {kDLCPU, 0}, "m", memory.data(), memory.size()),
            kTvmErrorNoError)
      << TVMGetLastError();
  ASSERT_EQ(TVMAotExecutor_GetInputIndex(&executor, "x"), 0);
  memcpy(TVMAotExecutor_GetInput(&executor, 0)->data, x_.data(), 24);
  ASSERT_EQ(TVMAotExecutor_Run(&executor), 0) << TVMGetLastError();
  const auto* y = static_cast<const float*>(TVMAotExecutor_GetOutput(&executor, 0)->data);
  EXPECT_EQ(std::vector<float>(y, y + 6), expected_);
}

TEST_F(CrtTest, GraphTableNeedsPackedFunctions) {
  program_.funcs[0].convention = loop::Convention::kUnpacked;
  EXPECT_EQ(AddGraphTable("m", plan_, program_).message(),
            "the graph executor cannot call tvmgen_m_triple: it is no packed function");
}

}  // namespace
}  // namespace kiln
