// SPDX-License-Identifier: Apache-2.0
// Whole programs, compiled, loaded and called: calling conventions, tasks, workspaces, data and
// getters.
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"
#include "gtest/gtest.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::BufferScope;
using loop::Convention;
using loop::DataDef;
using loop::DataValue;
using loop::Expr;
using loop::Func;
using loop::MakeBuffer;
using loop::MakeLoad;
using loop::Var;

const std::vector<std::vector<std::string>> kCompilers = {
    {"gcc", "-std=c99", "-O2", "-Iruntime_crt/include"},
    {"clang-19", "-std=c99", "-O2", "-Iruntime_crt/include"}};

// out[i] = in[i] * weight[i] + amount.
Func ScaleFunc(const std::string& name, const Buffer& weight, double amount, Convention convention,
               bool exported, loop::ForKind kind = loop::ForKind::kSerial) {
  const Buffer in = MakeBuffer("in", kF32, {2, 4}, BufferScope::kParam),
               out = MakeBuffer("out", kF32, {2, 4}, BufferScope::kParam);
  const Var i = loop::MakeVar("i");
  const Expr value =
      MakeLoad(in, {i}) * MakeLoad(weight, {i}) + loop::FloatConst(loop::Type::Of(kF32), amount);
  return {.name = name,
          .convention = convention,
          .params = {in, out},
          .num_inputs = 1,
          .scalars = {},
          .workspace = nullptr,
          .body = loop::MakeFor(i, Expr(0), Expr(8), kind, loop::MakeStore(out, {i}, value)),
          .exported = exported};
}

loop::Constant Weight() {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  return {MakeBuffer("int", kF32, {2, 4}, BufferScope::kConstant, 64),
          Tensor::From<float>({2, 4}, kF32, values)};
}

// main: x -> scale_a -> workspace -> scale_b -> y.
loop::LoopProgram TwoCalls(Convention main, Convention operators, bool operators_exported,
                           bool allocate) {
  loop::LoopProgram program;
  program.constants.push_back(Weight());
  const Buffer weight = program.constants[0].buffer;
  program.funcs.push_back(ScaleFunc("tvmgen_m_a", weight, 1, operators, operators_exported));
  program.funcs.push_back(ScaleFunc("tvmgen_m_b", weight, -1, operators, operators_exported));
  const Buffer x = MakeBuffer("x", kF32, {2, 4}, BufferScope::kParam),
               y = MakeBuffer("y", kF32, {2, 4}, BufferScope::kParam);
  const Buffer workspace = MakeBuffer("workspace", DType::UInt(8), {96}, BufferScope::kParam);
  Func func = {.name = "tvmgen_m_run_model",
               .kind = Func::Kind::kMain,
               .convention = main,
               .params = {x, y},
               .num_inputs = 1,
               .scalars = {},
               .workspace = nullptr,
               .body = loop::MakeBlock(
                   {loop::MakeCall("tvmgen_m_a", {{x, Expr(0)}, {workspace, Expr(64)}}),
                    loop::MakeCall("tvmgen_m_b", {{workspace, Expr(64)}, {y, Expr(0)}})})};
  func.allocate_workspace = allocate;
  if (allocate) {
    func.workspace = workspace;
  } else {
    func.params.push_back(workspace);
    func.num_pools = 1;
  }
  program.funcs.push_back(std::move(func));
  return program;
}

std::vector<float> Expected() {
  std::vector<float> result;
  for (int i = 0; i < 8; ++i) result.push_back((static_cast<float>(i) * (i + 1) + 1) * (i + 1) - 1);
  return result;
}

class ProgramTest : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  void SetUp() override {
    if (!HasCompiler(GetParam()[0])) GTEST_SKIP() << "no " << GetParam()[0];
    for (int i = 0; i < 8; ++i) x_[i] = static_cast<float>(i);
  }

  void Load(const loop::LoopProgram& program, bool loader_pointers,
            const std::string& module_context = "") {
    auto source = EmitC(program, Target::Host(),
                        {.loader_pointers = loader_pointers, .module_context = module_context});
    ASSERT_TRUE(source.ok()) << source.status();
    source_ = *source;
    auto library = LoadedC::Compile(source_, GetParam());
    ASSERT_TRUE(library.ok()) << library.status().message();
    library_ = *std::move(library);
    Set("__TVMAPISetLastError",
        reinterpret_cast<void*>(+[](const char* text) { last_error_ = text; }));
    Set("__TVMBackendAllocWorkspace",
        reinterpret_cast<void*>(+[](int, int, uint64_t bytes, int, int) -> void* {
          ++allocations_;
          return fail_allocation_ ? nullptr : malloc(bytes);
        }));
    Set("__TVMBackendFreeWorkspace", reinterpret_cast<void*>(+[](int, int, void* p) {
          --allocations_;
          free(p);
          return 0;
        }));
    Set("__TVMBackendParallelLaunch",
        reinterpret_cast<void*>(+[](FTVMParallelLambda f, void* closure, int) {
          TVMParallelGroupEnv env = {nullptr, 3};
          for (int task = 0; task < 3; ++task) {
            if (f(task, &env, closure) != 0) return -1;
          }
          return 0;
        }));
  }

  void Set(const std::string& variable, void* value) {
    if (void* p = library_->Symbol(variable)) memcpy(p, &value, sizeof(value));
  }

  DLTensor Wrap(void* data, std::vector<int64_t>& shape, DLDataType dtype) {
    return {data, {kDLCPU, 0}, static_cast<int32_t>(shape.size()), dtype, shape.data(), nullptr, 0};
  }

  int CallPacked(const std::string& name, std::vector<DLTensor>& tensors) {
    std::vector<TVMValue> values(tensors.size());
    std::vector<int> codes(tensors.size(), kTVMDLTensorHandle);
    for (size_t i = 0; i < tensors.size(); ++i) values[i].v_handle = &tensors[i];
    TVMValue result;
    int code = kTVMNullptr;
    auto* f = reinterpret_cast<TVMBackendPackedCFunc>(library_->Symbol(name));
    return f(values.data(), codes.data(), static_cast<int>(values.size()), &result, &code, nullptr);
  }

  std::string source_;
  std::unique_ptr<LoadedC> library_;
  float x_[8];
  std::vector<float> y_ = std::vector<float>(8);
  std::vector<int64_t> shape_ = {2, 4};
  const DLDataType f32_ = {kDLFloat, 32, 1};
  static inline std::string last_error_, looked_up_;
  static inline int allocations_ = 0;
  static inline bool fail_allocation_ = false;
};

TEST_P(ProgramTest, UnpackedMain) {
  Load(TwoCalls(Convention::kUnpacked, Convention::kUnpacked, false, false), false);
  if (HasFatalFailure()) return;
  EXPECT_FALSE(absl::StrContains(source_, "tvm") && absl::StrContains(source_, "#include \"tvm"))
      << source_;
  alignas(64) uint8_t workspace[96];
  auto* f = library_->Function<int32_t(void*, void*, uint8_t*)>("tvmgen_m_run_model");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(library_->Symbol("tvmgen_m_a"), nullptr);
  EXPECT_EQ(f(x_, y_.data(), workspace), 0);
  EXPECT_EQ(y_, Expected());
}

TEST_P(ProgramTest, UnpackedExportedOperators) {
  Load(TwoCalls(Convention::kUnpacked, Convention::kUnpacked, true, false), false);
  if (HasFatalFailure()) return;
  alignas(64) uint8_t workspace[96];
  EXPECT_EQ(library_->Function<int32_t(void*, void*, uint8_t*)>("tvmgen_m_run_model")(x_, y_.data(),
                                                                                      workspace),
            0);
  EXPECT_EQ(y_, Expected());
  EXPECT_NE(library_->Symbol("tvmgen_m_a"), nullptr);
}

TEST_P(ProgramTest, PackedMainTakesPoolsAfterOutputs) {
  for (Convention operators : {Convention::kPacked, Convention::kUnpacked}) {
    Load(TwoCalls(Convention::kPacked, operators, true, false), true);
    if (HasFatalFailure()) return;
    alignas(64) uint8_t workspace[96];
    std::vector<int64_t> none = {0}, bytes = {96};
    std::vector<DLTensor> tensors = {Wrap(x_, shape_, f32_), Wrap(y_.data(), shape_, f32_),
                                     Wrap(workspace, none, {kDLUInt, 8, 1}),
                                     Wrap(workspace, bytes, {kDLUInt, 8, 1})};
    y_.assign(8, 0);
    EXPECT_EQ(CallPacked("tvmgen_m_run_model", tensors), 0) << last_error_;
    EXPECT_EQ(y_, Expected());
    // The C runtime's executor omits the constant pools.
    std::vector<DLTensor> without = {tensors[0], tensors[1], tensors[3]};
    y_.assign(8, 0);
    EXPECT_EQ(CallPacked("tvmgen_m_run_model", without), 0) << last_error_;
    EXPECT_EQ(y_, Expected());
    bytes[0] = 95;
    EXPECT_EQ(CallPacked("tvmgen_m_run_model", tensors), -1);
    EXPECT_EQ(last_error_,
              "tvmgen_m_run_model: argument 'workspace' has another shape; wanted: uint8, at least "
              "96 bytes");
  }
}

// main: x -> scale_a of another object -> static memory -> scale_b of another object -> y.
loop::LoopProgram CallsOthers(Convention convention, bool by_name) {
  loop::LoopProgram program = TwoCalls(Convention::kUnpacked, convention, true, false);
  program.constants.clear();
  for (size_t i = 0; i < 2; ++i) {
    program.funcs[i].kind = Func::Kind::kExternal;
    program.funcs[i].body = {};
    program.funcs[i].by_name = by_name;
  }
  Func& main = program.funcs[2];
  const Buffer memory = MakeBuffer("memory", kF32, {2, 4}, BufferScope::kStatic, 64);
  main.body = loop::MakeAllocate(
      memory, loop::MakeBlock(
                  {loop::MakeCall("tvmgen_m_a", {{main.params[0], Expr(0)}, {memory, Expr(0)}}),
                   loop::MakeCall("tvmgen_m_b", {{memory, Expr(0)}, {main.params[1], Expr(0)}})}));
  main.params.pop_back();
  main.num_pools = 0;
  return program;
}

TEST_P(ProgramTest, FunctionsOfOtherObjectsAreDeclaredOnly) {
  for (const bool packed : {false, true}) {
    const Convention convention = packed ? Convention::kPacked : Convention::kUnpacked;
    auto source = EmitC(CallsOthers(convention, false), Target::Host(), {});
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_TRUE(absl::StrContains(
        *source, packed ? "TVM_DLL int tvmgen_m_a(TVMValue*" : "int32_t tvmgen_m_a(void*, void*);"))
        << *source;
    EXPECT_FALSE(absl::StrContains(*source, "tvmgen_m_a_body"));
  }
}

TEST_P(ProgramTest, FunctionsAreLookedUpByName) {
  Load(CallsOthers(Convention::kPacked, true), true, "module_context");
  if (HasFatalFailure()) return;
  EXPECT_NE(library_->Symbol("module_context"), nullptr);
  Set("__TVMBackendGetFuncFromEnv",
      reinterpret_cast<void*>(+[](void* module, const char* name, TVMFunctionHandle* function) {
        looked_up_ = absl::StrCat(looked_up_, " ", name);
        static char handles[2];
        *function = &handles[absl::EndsWith(name, "_b") ? 1 : 0];
        return module == nullptr ? -1 : 0;
      }));
  Set("__TVMFuncCall", reinterpret_cast<void*>(+[](TVMFunctionHandle, TVMValue* values, int* codes,
                                                   int count, TVMValue*, int*) {
        const auto* in = static_cast<const DLTensor*>(values[0].v_handle);
        const auto* out = static_cast<const DLTensor*>(values[1].v_handle);
        for (int i = 0; i < 8; ++i) {
          static_cast<float*>(out->data)[i] = static_cast<const float*>(in->data)[i] * 2;
        }
        return count == 2 && codes[1] == kTVMDLTensorHandle ? 0 : -1;
      }));
  auto* f = library_->Function<int32_t(void*, void*)>("tvmgen_m_run_model");
  ASSERT_NE(f, nullptr);
  // The runtime has not set the handle of the module.
  EXPECT_EQ(f(x_, y_.data()), -1);
  Set("module_context", this);
  looked_up_.clear();
  EXPECT_EQ(f(x_, y_.data()), 0);
  EXPECT_EQ(looked_up_, " tvmgen_m_a tvmgen_m_b");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y_[static_cast<size_t>(i)], static_cast<float>(4 * i));
}

TEST_P(ProgramTest, PackedFunctionChecksItsArguments) {
  Load(TwoCalls(Convention::kPacked, Convention::kPacked, true, true), true);
  if (HasFatalFailure()) return;
  const auto call = [&](auto change) {
    std::vector<int64_t> shape = {2, 4}, strides = {4, 1};
    std::vector<DLTensor> tensors = {Wrap(x_, shape, f32_), Wrap(y_.data(), shape_, f32_)};
    tensors[0].strides = strides.data();
    last_error_.clear();
    change(tensors, strides);
    return CallPacked("tvmgen_m_run_model", tensors);
  };
  const std::string x = "tvmgen_m_run_model: argument 'x' ";
  EXPECT_EQ(call([](auto&, auto&) {}), 0) << last_error_;
  EXPECT_EQ(y_, Expected());
  EXPECT_EQ(call([](auto& t, auto&) { t.pop_back(); }), -1);
  EXPECT_EQ(last_error_, "tvmgen_m_run_model: wrong number of arguments; wanted: 2");
  EXPECT_EQ(call([](auto& t, auto&) { t[0].ndim = 1; }), -1);
  EXPECT_EQ(last_error_, x + "has another number of dimensions; wanted: float32 (2, 4)");
  EXPECT_EQ(call([](auto& t, auto&) { t[0].dtype.bits = 64; }), -1);
  EXPECT_EQ(last_error_, x + "has another data type; wanted: float32 (2, 4)");
  EXPECT_EQ(call([](auto& t, auto&) { t[0].shape[1] = 5; }), -1);
  EXPECT_EQ(last_error_, x + "has another shape; wanted: float32 (2, 4)");
  EXPECT_EQ(call([](auto&, auto& strides) { strides[0] = 8; }), -1);
  EXPECT_EQ(last_error_, x + "is not compact");
  EXPECT_EQ(call([](auto& t, auto&) { t[0].device.device_type = 2; }), -1);
  EXPECT_EQ(last_error_, x + "is not in memory of the CPU");
  fail_allocation_ = true;
  EXPECT_EQ(call([](auto&, auto&) {}), -1);
  fail_allocation_ = false;
  allocations_ = 0;
  EXPECT_EQ(last_error_, "tvmgen_m_run_model: no memory for the workspace, bytes: 96");
  EXPECT_EQ(call([](auto&, auto&) {}), 0);
  EXPECT_EQ(allocations_, 0);
}

TEST_P(ProgramTest, ParallelLoopBecomesTasks) {
  for (Convention convention : {Convention::kPacked, Convention::kUnpacked}) {
    loop::LoopProgram program;
    program.constants.push_back(Weight());
    program.funcs.push_back(ScaleFunc("tvmgen_m_a", program.constants[0].buffer, 1, convention,
                                      true, loop::ForKind::kParallel));
    loop::OutlineParallel(program, 4);
    ASSERT_EQ(program.funcs.size(), 2u);
    Load(program, true);
    if (HasFatalFailure()) return;
    y_.assign(8, 0);
    if (convention == Convention::kPacked) {
      std::vector<DLTensor> tensors = {Wrap(x_, shape_, f32_), Wrap(y_.data(), shape_, f32_)};
      EXPECT_EQ(CallPacked("tvmgen_m_a", tensors), 0);
    } else {
      EXPECT_EQ(library_->Function<int32_t(void*, void*)>("tvmgen_m_a")(x_, y_.data()), 0);
    }
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(y_[static_cast<size_t>(i)], static_cast<float>(i * (i + 1) + 1));
  }
}

TEST_P(ProgramTest, WorkspaceBuffersOfAnOperator) {
  loop::LoopProgram program;
  const Buffer in = MakeBuffer("in", kF32, {8}, BufferScope::kParam),
               out = MakeBuffer("out", kF32, {8}, BufferScope::kParam);
  const Buffer scratch = MakeBuffer("scratch", kF32, {8}, BufferScope::kWorkspace),
               local = MakeBuffer("local", kF32, {8}, BufferScope::kLocal, 32);
  const Buffer workspace = MakeBuffer("workspace", DType::UInt(8), {128}, BufferScope::kWorkspace);
  const Var i = loop::MakeVar("i");
  const auto copy = [&](const Buffer& from, const Buffer& to) {
    return loop::MakeFor(i, Expr(0), Expr(8), loop::ForKind::kSerial,
                         loop::MakeStore(to, {i}, MakeLoad(from, {i})));
  };
  program.funcs.push_back(
      {.name = "f",
       .params = {in, out},
       .num_inputs = 1,
       .scalars = {},
       .workspace = workspace,
       .body = loop::MakeAllocate(
           scratch,
           loop::MakeAllocate(
               local, loop::MakeBlock({copy(in, local), copy(local, scratch), copy(scratch, out)})),
           64)});
  Load(program, false);
  if (HasFatalFailure()) return;
  alignas(64) uint8_t memory[128];
  EXPECT_EQ(library_->Function<int32_t(void*, void*, uint8_t*)>("f")(x_, y_.data(), memory), 0);
  EXPECT_EQ(y_, std::vector<float>(x_, x_ + 8));
  EXPECT_EQ(memcmp(memory + 64, x_, sizeof(x_)), 0);
}

TEST_P(ProgramTest, DataAndGetters) {
  loop::LoopProgram program;
  const std::string text =
      "tri?\?/graph \"quoted\" \\ \x01\xff"
      "9 end";
  program.constants.push_back(Weight());
  program.funcs.push_back(
      ScaleFunc("tvmgen_m_a", program.constants[0].buffer, 1, Convention::kPacked, true));
  program.data = {
      {.name = "info",
       .c_type = "struct TVMTensorInfo",
       .c_header = "tvm/runtime/metadata_types.h",
       .value = DataValue::Struct({DataValue::String(text), DataValue::Pointer("info_shape"),
                                   DataValue::Int(64, 2),
                                   DataValue::Struct({DataValue::Int(8, 2), DataValue::Int(8, 32),
                                                      DataValue::Int(16, 1)})}),
       .exported = true},
      {.name = "info_shape",
       .c_type = "int64_t",
       .c_header = "",
       .value = DataValue::Array(
           {DataValue::Int(64, 2), DataValue::Int(64, std::numeric_limits<int64_t>::min())})},
      {.name = "blob",
       .c_type = "unsigned char",
       .c_header = "",
       .value = DataValue::Raw(std::string("\0\xff\x7f", 3)),
       .exported = true},
      {.name = "letters",
       .c_type = "char",
       .c_header = "",
       .value = DataValue::Raw(std::string("\x82\0a'\\", 5)),
       .exported = true},
      {.name = "long_one",
       .c_type = "char*",
       .c_header = "",
       .value = DataValue::String(std::string(9000, 'x')),
       .exported = true},
      {.name = "functions",
       .c_type = "TVMBackendPackedCFunc",
       .c_header = "tvm/runtime/c_backend_api.h",
       .value =
           DataValue::Array({DataValue::Function("tvmgen_m_a"), DataValue::Function("get_info")}),
       .exported = true},
      {.name = "__tvm_module_ctx",
       .c_type = "void*",
       .c_header = "",
       .value = DataValue::Null(),
       .exported = true,
       .writable = true},
      {.name = "unused", .c_type = "int64_t", .c_header = "", .value = DataValue::Int(64, 1)}};
  program.data[4].c_type = "const char*";
  program.getters = {{.name = "get_info", .data_symbol = "info"},
                     {.name = "plain_info", .data_symbol = "info", .packed = false}};
  Load(program, true);
  if (HasFatalFailure()) return;
  struct Info {
    const char* name;
    const int64_t* shape;
    int64_t num_shape;
    DLDataType dtype;
  };
  TVMValue value;
  int code = kTVMNullptr;
  auto* get = reinterpret_cast<TVMBackendPackedCFunc>(library_->Symbol("get_info"));
  ASSERT_EQ(get(nullptr, nullptr, 0, &value, &code, nullptr), 0);
  EXPECT_EQ(code, kTVMOpaqueHandle);
  const auto* info = static_cast<const Info*>(value.v_handle);
  EXPECT_EQ(info->name, text);
  EXPECT_EQ(info->shape[1], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(info->dtype.bits, 32);
  EXPECT_EQ(library_->Function<const Info*()>("plain_info")(), info);
  EXPECT_EQ(memcmp(library_->Symbol("blob"), "\0\xff\x7f", 3), 0);
  EXPECT_EQ(memcmp(library_->Symbol("letters"), "\x82\0a'\\", 5), 0);
  EXPECT_EQ(*static_cast<const char**>(library_->Symbol("long_one")), std::string(9000, 'x'));
  auto* functions = static_cast<void**>(library_->Symbol("functions"));
  EXPECT_EQ(functions[0], library_->Symbol("tvmgen_m_a"));
  EXPECT_EQ(functions[1], library_->Symbol("get_info"));
  EXPECT_NE(library_->Symbol("__tvm_module_ctx"), nullptr);
  EXPECT_FALSE(absl::StrContains(source_, "unused ="));
}

INSTANTIATE_TEST_SUITE_P(Compilers, ProgramTest, testing::ValuesIn(kCompilers),
                         [](const auto& info) { return info.index == 0 ? "Gcc" : "Clang"; });

}  // namespace
}  // namespace kiln::codegen
