// SPDX-License-Identifier: Apache-2.0
// Failures in generated code: the same program runs with each call of the runtime failing in turn,
// with wrong arguments, and with numbers on which it fails. All engines must agree on the codes,
// the texts, the order of the calls and the written values.
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"
#include "gtest/gtest.h"
#include "tvm/runtime/c_backend_api.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/jit.h"
#endif

namespace kiln::equality {
namespace {

using loop::Buffer;
using loop::BufferScope;
using loop::Convention;
using loop::Expr;
using loop::Func;
using loop::MakeBuffer;

constexpr int kElements = 8;

// A runtime that records its calls, and fails at one of them.
struct Runtime {
  std::vector<std::string> calls;
  int failing = -1;  // index of the failing call, or -1
  int open = 0;      // workspaces
  std::string text;

  // Records a call. Returns 0, or a failure code that contains the index of the call.
  int Note(const std::string& call) {
    calls.push_back(call);
    const int number = static_cast<int>(calls.size()) - 1;
    return number == failing ? 100 + number : 0;
  }
};
Runtime* runtime = nullptr;

void* Allocate(int device_type, int device_id, uint64_t bytes, int code, int bits) {
  if (runtime->Note(absl::StrCat("allocate ", device_type, " ", device_id, " ", bytes, " ", code,
                                 " ", bits)) != 0) {
    return nullptr;
  }
  ++runtime->open;
  return std::aligned_alloc(128, (bytes + 127) / 128 * 128);
}

int Free(int, int, void* memory) {
  --runtime->open;
  std::free(memory);
  return runtime->Note("free");
}

int Launch(FTVMParallelLambda task, void* closure, int num_tasks) {
  if (const int error = runtime->Note(absl::StrCat("launch ", num_tasks)); error != 0) return error;
  TVMParallelGroupEnv env = {nullptr, 3};
  for (int i = 0; i < env.num_task; ++i) {
    if (const int error = task(i, &env, closure); error != 0) return error;
  }
  return 0;
}

int GetFunction(void*, const char* name, TVMFunctionHandle* function) {
  static char handle;
  *function = &handle;
  return runtime->Note(absl::StrCat("look up ", name));
}

// out = in.
int CallFunction(TVMFunctionHandle, TVMValue* values, int*, int count, TVMValue*, int*) {
  const auto* in = static_cast<const DLTensor*>(values[0].v_handle);
  const auto* out = static_cast<const DLTensor*>(values[1].v_handle);
  std::memcpy(out->data, in->data, kElements * sizeof(float));
  return runtime->Note(absl::StrCat("call with ", count));
}

void SetText(const char* text) { runtime->text = text; }

const std::map<std::string, void*>& RuntimeFunctions() {
  static const auto& functions = *new std::map<std::string, void*>{
      {"TVMBackendAllocWorkspace", reinterpret_cast<void*>(&Allocate)},
      {"TVMBackendFreeWorkspace", reinterpret_cast<void*>(&Free)},
      {"TVMBackendParallelLaunch", reinterpret_cast<void*>(&Launch)},
      {"TVMBackendGetFuncFromEnv", reinterpret_cast<void*>(&GetFunction)},
      {"TVMFuncCall", reinterpret_cast<void*>(&CallFunction)},
      {"TVMAPISetLastError", reinterpret_cast<void*>(&SetText)}};
  return functions;
}

// out = in + 1, optionally with scratch memory from the runtime, optionally in parallel.
Func AddOne(const std::string& name, Convention convention, bool scratch, loop::ForKind kind) {
  const Buffer in = MakeBuffer("in", kF32, {2, 4}, BufferScope::kParam),
               out = MakeBuffer("out", kF32, {2, 4}, BufferScope::kParam);
  const loop::Var i = loop::MakeVar("i");
  Func func;
  func.name = name;
  func.convention = convention;
  func.params = {in, out};
  func.num_inputs = 1;
  const Expr value = loop::MakeLoad(in, {i}) + loop::FloatConst(loop::Type::Of(kF32), 1);
  func.body = loop::MakeFor(i, Expr(0), Expr(kElements), kind, loop::MakeStore(out, {i}, value));
  if (scratch) {
    func.workspace = MakeBuffer("workspace", DType::UInt(8), {96}, BufferScope::kParam);
    func.allocate_workspace = true;
  }
  return func;
}

constexpr DType kNumbers[] = {DType::Int(8), DType::Int(32), DType::UInt(32), DType::Int(64),
                              DType::UInt(64)};

// Copies numbers until one is odd, and fails with this number.
Func FailAt(DType dtype) {
  const Buffer in = MakeBuffer("in", dtype, {4}, BufferScope::kParam),
               out = MakeBuffer("out", dtype, {4}, BufferScope::kParam);
  const loop::Var i = loop::MakeVar("i");
  const Expr number = loop::MakeLoad(in, {i});
  const loop::Type type = number.type();
  const Expr is_odd = loop::MakeBinary(loop::BinaryOp::kAnd, number, loop::IntConst(type, 1)) ==
                      loop::IntConst(type, 1);
  Func func;
  func.name = absl::StrCat("odd_", dtype.ToString());
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = loop::MakeFor(
      i, 0, 4, loop::ForKind::kSerial,
      loop::MakeBlock(
          {loop::MakeIf(is_odd, loop::MakeFail("\"odd\"?\?/: found ", number, ", wanted ä")),
           loop::MakeStore(out, {i}, number)}));
  return func;
}

// y = x + 1 + 1 + 1. One operator is called by name, one runs in parallel, and one has tensors as
// arguments and scratch memory. The model has scratch memory, too.
loop::LoopProgram Program() {
  loop::LoopProgram program;
  program.funcs = {AddOne("parallel", Convention::kUnpacked, false, loop::ForKind::kParallel),
                   AddOne("packed", Convention::kPacked, true, loop::ForKind::kSerial)};
  Func named = AddOne("named", Convention::kPacked, false, loop::ForKind::kSerial);
  named.kind = Func::Kind::kExternal;
  named.body = {};
  named.by_name = true;
  program.funcs.push_back(named);
  const Buffer x = MakeBuffer("x", kF32, {2, 4}, BufferScope::kParam),
               y = MakeBuffer("y", kF32, {2, 4}, BufferScope::kParam);
  Func main;
  main.name = "run";
  main.kind = Func::Kind::kMain;
  main.convention = Convention::kPacked;
  main.params = {x, y};
  main.num_inputs = 1;
  main.workspace = MakeBuffer("workspace", DType::UInt(8), {64}, BufferScope::kParam);
  main.allocate_workspace = true;
  const Buffer memory = main.workspace;
  main.body = loop::MakeBlock({loop::MakeCall("named", {{x, Expr(0)}, {memory, Expr(0)}}),
                               loop::MakeCall("parallel", {{memory, Expr(0)}, {memory, Expr(32)}}),
                               loop::MakeCall("packed", {{memory, Expr(32)}, {y, Expr(0)}})});
  main.exported = true;
  program.funcs.push_back(main);
  for (const DType dtype : kNumbers) program.funcs.push_back(FailAt(dtype));
  for (Func& func : program.funcs) {
    func.exported = func.kind == Func::Kind::kMain || func.convention == Convention::kUnpacked;
  }
  loop::OutlineParallel(program, 4);
  return program;
}

// The arguments of one call of the model.
struct Arguments {
  float x[kElements], y[kElements];
  int64_t shape[2] = {2, 4};
  int64_t strides[2] = {4, 1};
  DLTensor tensors[2];
  TVMValue values[2];
  int codes[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  int count = 2;

  Arguments() {
    for (int i = 0; i < kElements; ++i) {
      x[i] = static_cast<float>(i);
      y[i] = -1;
    }
    float* const data[2] = {x, y};
    for (int i = 0; i < 2; ++i) {
      tensors[i] = {data[i], {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
      values[i].v_handle = &tensors[i];
    }
  }
};

using Change = std::function<void(Arguments&)>;

struct Outcome {
  int code = 0;
  std::string text;  // code and everything else on which the engines must agree
  size_t calls = 0;  // number of calls of runtime functions
};

Outcome RunModel(void* address, int failing, const Change& change) {
  Runtime own;
  own.failing = failing;
  runtime = &own;
  Arguments a;
  change(a);
  TVMValue result = {.v_int64 = 5};
  int result_code = kTVMNullptr;
  Outcome outcome;
  outcome.code = reinterpret_cast<TVMBackendPackedCFunc>(address)(a.values, a.codes, a.count,
                                                                  &result, &result_code, nullptr);
  runtime = nullptr;
  outcome.calls = own.calls.size();
  EXPECT_EQ(own.open, 0) << "workspaces that were not given back";
  outcome.text =
      absl::StrCat(outcome.code, " '", own.text, "' ", absl::StrJoin(own.calls, ", "),
                   "; y = ", absl::StrJoin(a.y, " "), "; ", result.v_int64, " ", result_code);
  return outcome;
}

class FailuresTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto source = codegen::EmitC(
        Program(), Target::Host(), {.loader_pointers = true, .module_context = "module_context"});
    ASSERT_TRUE(source.ok()) << source.status();
    auto library =
        codegen::LoadedC::Compile(*source, {"gcc", "-std=c99", "-O2", "-Iruntime_crt/include"});
    ASSERT_TRUE(library.ok()) << library.status();
    c_ = *std::move(library);
    for (const auto& [name, function] : RuntimeFunctions()) {
      void* const slot = c_->Symbol("__" + name);
      ASSERT_NE(slot, nullptr) << name;
      std::memcpy(slot, &function, sizeof(function));
    }
    engines_["c"] = c_->Symbol("run");
    libraries_["c"] = [this](const std::string& name) { return c_->Symbol(name); };
#ifdef KILN_WITH_LLVM
    auto jit = codegen::Jit::Create(Program(), Target::Host(), RuntimeFunctions(),
                                    {.module_context = "module_context"});
    ASSERT_TRUE(jit.ok()) << jit.status();
    llvm_ = *std::move(jit);
    engines_["llvm"] = llvm_->Lookup("run");
    libraries_["llvm"] = [this](const std::string& name) { return llvm_->Lookup(name); };
#endif
    for (const auto& [name, address] : engines_) ASSERT_NE(address, nullptr) << name;
  }

  // Runs the model on all engines, and expects the same outcome.
  Outcome RunAll(int failing, const Change& change = [](Arguments&) {}) {
    const Outcome wanted = RunModel(engines_.at("c"), failing, change);
    for (const auto& [name, address] : engines_) {
      EXPECT_EQ(RunModel(address, failing, change).text, wanted.text) << name;
    }
    return wanted;
  }

  // Runs odd_<dtype> on all engines and in the interpreter, and expects the same result. Returns
  // the text of the error and the numbers that were copied.
  template <typename T>
  std::string FailAtOdd(DType dtype, const std::array<T, 4>& numbers) {
    const std::string name = absl::StrCat("odd_", dtype.ToString());
    std::array<T, 4> in = numbers, out = {};
    const loop::LoopProgram program = Program();
    const absl::Status status = loop::Interpreter(program).Run(name, {in.data(), out.data()});
    const std::string wanted = absl::StrCat(status.message(), "; ", absl::StrJoin(out, " "));
    for (const auto& [engine, lookup] : libraries_) {
      Runtime own;
      runtime = &own;
      out = {};
      const auto function = reinterpret_cast<int32_t (*)(void*, void*)>(lookup(name));
      EXPECT_EQ(function(in.data(), out.data()), status.ok() ? 0 : loop::kFailStatus) << engine;
      EXPECT_EQ(absl::StrCat(own.text, "; ", absl::StrJoin(out, " ")), wanted) << engine;
      runtime = nullptr;
    }
    return wanted;
  }

 private:
  std::map<std::string, std::function<void*(const std::string&)>> libraries_;
  std::unique_ptr<codegen::LoadedC> c_;
#ifdef KILN_WITH_LLVM
  std::unique_ptr<codegen::Jit> llvm_;
#endif
  std::map<std::string, void*> engines_;
};

TEST_F(FailuresTest, EveryCallOfTheRuntimeFails) {
  const Outcome good = RunAll(-1);
  EXPECT_EQ(good.text,
            "0 '' allocate 1 0 64 1 8, look up named, call with 2, launch 0, allocate 1 0 96 1 8, "
            "free, free; y = 2 3 4 5 6 7 8 9; 5 4");
  for (int failing = 0; failing < static_cast<int>(good.calls); ++failing) {
    SCOPED_TRACE(failing);
    const Outcome outcome = RunAll(failing);
    const bool allocates = failing == 0 || failing == 4;
    EXPECT_EQ(outcome.code, allocates ? -1 : 100 + failing);
    EXPECT_EQ(outcome.text.find("no memory for the workspace") != std::string::npos, allocates)
        << outcome.text;
  }
}

TEST_F(FailuresTest, WrongArguments) {
  const std::vector<Change> changes = {
      [](Arguments& a) { a.count = 1; },
      [](Arguments& a) { a.count = 3; },
      [](Arguments& a) { a.values[0].v_handle = nullptr; },
      [](Arguments& a) { a.codes[1] = kTVMArgInt; },
      [](Arguments& a) { a.codes[1] = 32 + kTVMDLTensorHandle; },
      [](Arguments& a) { a.codes[1] = -1; },
      [](Arguments& a) { a.tensors[0].ndim = 1; },
      [](Arguments& a) { a.tensors[0].dtype.bits = 16; },
      [](Arguments& a) { a.tensors[0].dtype.code = kDLInt; },
      [](Arguments& a) { a.tensors[0].dtype.lanes = 2; },
      [](Arguments& a) { a.tensors[1].device.device_type = kDLCUDA; },
      [](Arguments& a) { a.shape[0] = 3; },
      [](Arguments& a) { a.shape[1] = 5; },
      [](Arguments& a) {
        a.tensors[0].strides = a.strides;
        a.strides[0] = 5;
      },
      [](Arguments& a) {
        a.tensors[1].strides = a.strides;
        a.strides[1] = 2;
      },
      // If there are several errors, all engines report the same one.
      [](Arguments& a) {
        a.tensors[0].strides = a.strides;
        a.strides[1] = 2;
        a.shape[0] = 3;
      },
      [](Arguments& a) {
        a.tensors[0].ndim = 1;
        a.tensors[0].dtype.code = kDLInt;
        a.count = 1;
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    const Outcome outcome = RunAll(-1, changes[i]);
    EXPECT_EQ(outcome.code, -1);
    EXPECT_EQ(outcome.calls, 0u) << outcome.text;
  }
}

TEST_F(FailuresTest, NumbersInTheText) {
  const std::string before = "\"odd\"?\?/: found ", after = ", wanted ä; ";
  EXPECT_EQ(FailAtOdd<int32_t>(DType::Int(32), {2, 4, 6, 8}), "; 2 4 6 8");
  EXPECT_EQ(FailAtOdd<int32_t>(DType::Int(32), {2, 1, 3, 8}), before + "1" + after + "2 0 0 0");
  EXPECT_EQ(FailAtOdd<int32_t>(DType::Int(32), {2, -2147483647, 0, 8}),
            before + "-2147483647" + after + "2 0 0 0");
  EXPECT_EQ(FailAtOdd<uint32_t>(DType::UInt(32), {4294967295, 0, 0, 0}),
            before + "4294967295" + after + "0 0 0 0");
  EXPECT_EQ(FailAtOdd<int64_t>(DType::Int(64), {0, 0, 0, -9223372036854775807}),
            before + "-9223372036854775807" + after + "0 0 0 0");
  EXPECT_EQ(FailAtOdd<int64_t>(DType::Int(64), {1000000000000000001, 0, 0, 0}),
            before + "1000000000000000001" + after + "0 0 0 0");
  EXPECT_EQ(FailAtOdd<uint64_t>(DType::UInt(64), {2, 18446744073709551615u, 0, 0}),
            before + "18446744073709551615" + after + "2 0 0 0");
  EXPECT_EQ(FailAtOdd<int8_t>(DType::Int(8), {-127, 0, 0, 0}).substr(0, before.size() + 4),
            before + "-127");
}

TEST_F(FailuresTest, StridesOfCompactTensors) {
  EXPECT_EQ(RunAll(-1, [](Arguments& a) { a.tensors[0].strides = a.strides; }).code, 0);
}

}  // namespace
}  // namespace kiln::equality
