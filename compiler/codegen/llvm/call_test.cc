// SPDX-License-Identifier: Apache-2.0
// Calls in both conventions, workspaces and the argument checks of packed functions.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Convention;
using loop::Expr;
using loop::ForKind;
using loop::Func;
using loop::LoopProgram;
using loop::MakeFor;
using loop::MakeLoad;
using loop::MakeStore;
using loop::MakeVar;
using loop::Stmt;
using loop::Var;

struct TestTensor {
  void* data;
  int32_t device_type = 1;
  int32_t device_id = 0;
  int32_t ndim;
  uint8_t code = 2;
  uint8_t bits = 32;
  uint16_t lanes = 1;
  int64_t* shape;
  int64_t* strides = nullptr;
  uint64_t byte_offset = 0;
};
static_assert(sizeof(TestTensor) == 48);

using PackedFunction = int32_t (*)(void** args, int32_t* codes, int32_t num_args, void* ret,
                                   int32_t* ret_code, void* resource);

Buffer Workspace(int64_t bytes) {
  return loop::MakeBuffer("workspace", DType::UInt(8), {bytes}, loop::BufferScope::kWorkspace, 64);
}

// out[i] = a[i] + amount for a [2, 4] tensor, computed in `workspace` if it is not null.
Func AddFunc(const std::string& name, float amount, Convention convention,
             const Buffer& workspace = nullptr) {
  const Buffer a = Param("a", kF32, {2, 4}), out = Param("out", kF32, {2, 4});
  const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k"), l = MakeVar("l");
  Func func;
  func.name = name;
  func.convention = convention;
  func.params = {a, out};
  func.num_inputs = 1;
  func.workspace = workspace;
  auto nest = [](const Var& outer, const Var& inner, Stmt body) {
    return MakeFor(outer, 0, 2, ForKind::kSerial, MakeFor(inner, 0, 4, ForKind::kSerial, body));
  };
  const Expr sum = MakeLoad(a, {i, j}) + loop::FloatConst(loop::Type::Of(kF32), amount);
  if (workspace == nullptr) {
    func.body = nest(i, j, MakeStore(out, {i, j}, sum));
  } else {
    const Buffer scratch = loop::MakeBuffer("scratch", kF32, {2, 4}, loop::BufferScope::kWorkspace);
    func.body = loop::MakeAllocate(
        scratch, loop::MakeBlock({nest(i, j, MakeStore(scratch, {i, j}, sum)),
                                  nest(k, l, MakeStore(out, {k, l}, MakeLoad(scratch, {k, l})))}));
  }
  return func;
}

// main(a, out) = add2(add1(a)), with the intermediate value in main's workspace.
LoopProgram Chain(Convention convention, bool operators_have_workspace) {
  LoopProgram program;
  const Buffer scratch = operators_have_workspace ? Workspace(32) : nullptr;
  program.funcs.push_back(AddFunc("add1", 1, convention, scratch));
  program.funcs.push_back(AddFunc("add2", 2, convention, scratch));
  const Buffer a = Param("a", kF32, {2, 4}), out = Param("out", kF32, {2, 4});
  const Buffer workspace = Workspace(128);
  Func main;
  main.name = "f";
  main.kind = Func::Kind::kMain;
  main.convention = convention;
  main.params = {a, out, workspace};
  main.num_inputs = 1;
  main.num_pools = 1;
  std::vector<loop::Argument> first = {{a, Expr(0)}, {workspace, Expr(64)}};
  std::vector<loop::Argument> second = {{workspace, Expr(64)}, {out, Expr(0)}};
  if (operators_have_workspace) {
    first.push_back({workspace, Expr(0)});
    second.push_back({workspace, Expr(0)});
  }
  main.body = loop::MakeBlock({loop::MakeCall("add1", first), loop::MakeCall("add2", second)});
  program.funcs.push_back(main);
  return program;
}

TEST(CallTest, UnpackedFunctionsCallEachOther) {
  for (bool workspace : {false, true}) {
    const LoopProgram program = Chain(Convention::kUnpacked, workspace);
    for (const Target& target : RunnableTargets()) {
      ExpectSameBits(program, "f",
                     {EdgeValues(kF32, 8), std::string(32, '\0'), std::string(128, '\0')}, target);
    }
  }
}

// Operators that share the code of another one leave only their names.
TEST(CallTest, FunctionsThatOnlyPassArgumentsOnAreInlined) {
  for (bool exported : {false, true}) {
    LoopProgram program = Chain(Convention::kUnpacked, false);
    Func& second = program.funcs[1];
    second.exported = exported;
    second.body =
        loop::MakeCall("add1", {{second.params[0], Expr(0)}, {second.params[1], Expr(0)}});
    const std::string text = *EmitLlvmText(program, Target::Host());
    EXPECT_EQ(text.find("@add2(") != std::string::npos, exported) << text;
    EXPECT_EQ(text.find("call i32 @add2(") != std::string::npos, exported) << text;
    EXPECT_NE(text.find("call i32 @add1("), std::string::npos) << text;
    ExpectSameBits(program, "f",
                   {EdgeValues(kF32, 8), std::string(32, '\0'), std::string(128, '\0')},
                   Target::Host());
  }
}

// If memory is short, only the base address of the memory stays live between calls, not each
// address in it that is passed again.
TEST(CallTest, TheModelsFunctionKeepsNoAddressesWhereMemoryIsShort) {
  LoopProgram program;
  program.funcs.push_back(AddFunc("add", 1, Convention::kUnpacked));
  const Buffer workspace = Workspace(128);
  Func main;
  main.name = "f";
  main.kind = Func::Kind::kMain;
  main.params = {workspace};
  main.num_pools = 1;
  const auto call = [&](int from, int to) {
    return loop::MakeCall("add", {{workspace, Expr(from)}, {workspace, Expr(to)}});
  };
  main.body = loop::MakeBlock({call(32, 64), call(64, 96), call(96, 32), call(32, 64)});
  program.funcs.push_back(main);
  const auto addresses = [&](const char* target) {
    const std::string text = *EmitLlvmText(program, *Target::Parse(target));
    const std::vector<std::string> parts =
        absl::StrSplit(text.substr(text.find("i32 @f(")), "getelementptr");
    return parts.size() - 1;
  };
  EXPECT_EQ(addresses("cortex-m4f"), 8);
  EXPECT_EQ(addresses("x86-64"), 3);
}

// A packed function of a program. Calls pass tensors with any description.
class PackedCall {
 public:
  PackedCall(const LoopProgram& program, const std::string& name, const Jit::Symbols& symbols = {})
      : jit_(*Jit::Create(program, Target::Host(), symbols)),
        function_(reinterpret_cast<PackedFunction>(jit_->Lookup(name))) {}

  int32_t operator()(std::vector<TestTensor>& tensors, int32_t type_code = 7) {
    std::vector<void*> args;
    for (TestTensor& tensor : tensors) args.push_back(&tensor);
    std::vector<int32_t> codes(args.size(), type_code);
    void* ret[2] = {};
    int32_t ret_code = 4;
    return function_(args.data(), codes.data(), static_cast<int32_t>(args.size()), ret, &ret_code,
                     nullptr);
  }

 private:
  std::unique_ptr<Jit> jit_;
  PackedFunction function_;
};

struct ChainArguments {
  alignas(64) float header_and_a[12] = {0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  float* a = header_and_a + 4;
  alignas(64) float out[8] = {};
  alignas(64) char workspace[128] = {};
  int64_t shape[2] = {2, 4};
  int64_t pool_shape[1] = {0};
  int64_t workspace_shape[1] = {128};

  TestTensor A() { return {.data = a, .ndim = 2, .shape = shape}; }
  TestTensor Out() { return {.data = out, .ndim = 2, .shape = shape}; }
  TestTensor Pool() {
    return {.data = nullptr, .ndim = 1, .code = 1, .bits = 8, .shape = pool_shape};
  }
  TestTensor WorkspaceTensor() {
    return {.data = workspace, .ndim = 1, .code = 1, .bits = 8, .shape = workspace_shape};
  }
};

// The C++ runtime passes a constant pool between outputs and workspace, the C runtime does not.
TEST(CallTest, PackedMainTakesItsWorkspaceLast) {
  for (bool operators_have_workspace : {false, true}) {
    PackedCall call(Chain(Convention::kPacked, operators_have_workspace), "f");
    for (bool pool : {false, true}) {
      ChainArguments x;
      std::vector<TestTensor> tensors = {x.A(), x.Out()};
      if (pool) tensors.push_back(x.Pool());
      tensors.push_back(x.WorkspaceTensor());
      EXPECT_EQ(call(tensors), 0) << JitLastError();
      for (int i = 0; i < 8; ++i) EXPECT_EQ(x.out[i], x.a[i] + 3);
    }
  }
}

// Only external callers pass tensors, which are checked.
TEST(CallTest, PackedFunctionsOfTheModuleAreCalledByPointers) {
  LoopProgram program = Chain(Convention::kPacked, /*operators_have_workspace=*/false);
  for (Func& func : program.funcs) func.exported = func.kind == Func::Kind::kMain;
  const std::string text = *EmitLlvmText(program, Target::Host());
  EXPECT_NE(text.find("@f.compute("), std::string::npos) << text;
  EXPECT_NE(text.find("call i32 @add1(ptr"), std::string::npos) << text;
  for (const char* absent : {"@add1.compute", "alloca [2 x %DLTensor]", "add1: argument"}) {
    EXPECT_EQ(text.find(absent), std::string::npos) << text;
  }
  PackedCall call(program, "f");
  ChainArguments x;
  std::vector<TestTensor> tensors = {x.A(), x.Out(), x.WorkspaceTensor()};
  EXPECT_EQ(call(tensors), 0) << JitLastError();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(x.out[i], x.a[i] + 3);
  program.data.push_back(
      {.name = "table", .c_type = "void*", .value = loop::DataValue::Function("add1")});
  EXPECT_EQ(EmitObject(program, Target::Host()).status().message(),
            "LLVM code generator: data has the address of add1, which is not exported");
}

TEST(CallTest, PackedFunctionHonoursByteOffsetAndStrides) {
  PackedCall call(Chain(Convention::kPacked, false), "add1");
  ChainArguments x;
  int64_t strides[2] = {4, 1};
  std::vector<TestTensor> tensors = {x.A(), x.Out()};
  tensors[0].data = x.header_and_a;
  tensors[0].byte_offset = 16;
  tensors[0].strides = strides;
  for (int32_t code : {3, 7, 13}) EXPECT_EQ(call(tensors, code), 0) << JitLastError();
  EXPECT_EQ(x.out[7], 9);
}

TEST(CallTest, PackedFunctionRefusesWrongArguments) {
  PackedCall call(Chain(Convention::kPacked, false), "f");
  ChainArguments x;
  const std::vector<TestTensor> right = {x.A(), x.Out(), x.Pool(), x.WorkspaceTensor()};
  auto expect_refusal = [&](auto change, const std::string& text, int32_t code = 7) {
    std::vector<TestTensor> tensors = right;
    change(tensors);
    EXPECT_EQ(call(tensors, code), -1) << text;
    EXPECT_EQ(JitLastError(), "f: " + text);
  };
  int64_t other_shape[2] = {2, 5};
  int64_t other_strides[2] = {1, 2};
  int64_t small[1] = {127};
  auto nothing = [](auto&) {};
  expect_refusal([](auto& t) { t.resize(2); }, "wrong number of arguments; wanted: 3");
  expect_refusal([](auto& t) { t.push_back(t.back()); }, "wrong number of arguments; wanted: 3");
  expect_refusal([](auto& t) { t.pop_back(); },
                 "argument 'workspace' has another shape; wanted: uint8, at least 128 bytes");
  expect_refusal(nothing, "argument 'a' is no tensor; wanted: float32 (2, 4)", 0);
  expect_refusal(nothing, "argument 'a' is no tensor; wanted: float32 (2, 4)", 32 + 7);
  expect_refusal([](auto& t) { t[0].ndim = 3; },
                 "argument 'a' has another number of dimensions; wanted: float32 (2, 4)");
  expect_refusal([](auto& t) { t[1].bits = 64; },
                 "argument 'out' has another data type; wanted: float32 (2, 4)");
  expect_refusal([](auto& t) { t[1].code = 0; },
                 "argument 'out' has another data type; wanted: float32 (2, 4)");
  expect_refusal([](auto& t) { t[0].device_type = 2; }, "argument 'a' is not in memory of the CPU");
  expect_refusal([&](auto& t) { t[0].shape = other_shape; },
                 "argument 'a' has another shape; wanted: float32 (2, 4)");
  expect_refusal([&](auto& t) { t[0].strides = other_strides; }, "argument 'a' is not compact");
  expect_refusal([&](auto& t) { t[3].shape = small; },
                 "argument 'workspace' has another shape; wanted: uint8, at least 128 bytes");
}

// A function of another program, with the signature of `like`.
Func External(const Func& like, bool by_name) {
  Func func;
  func.name = like.name;
  func.kind = Func::Kind::kExternal;
  func.convention = like.convention;
  func.params = like.params;
  func.num_inputs = like.num_inputs;
  func.by_name = by_name;
  return func;
}

// main(a, out) = add2(add1(a)), both functions in another program, the intermediate value in static
// memory.
LoopProgram CallsOthers(Convention convention, bool by_name) {
  LoopProgram program;
  program.funcs.push_back(External(AddFunc("add1", 1, convention), by_name));
  program.funcs.push_back(External(AddFunc("add2", 2, convention), by_name));
  const Buffer a = Param("a", kF32, {2, 4}), out = Param("out", kF32, {2, 4});
  const Buffer memory = loop::MakeBuffer("memory", kF32, {2, 4}, loop::BufferScope::kStatic, 64);
  Func main;
  main.name = "f";
  main.kind = Func::Kind::kMain;
  main.params = {a, out};
  main.num_inputs = 1;
  main.body = loop::MakeAllocate(
      memory, loop::MakeBlock({loop::MakeCall("add1", {{a, Expr(0)}, {memory, Expr(0)}}),
                               loop::MakeCall("add2", {{memory, Expr(0)}, {out, Expr(0)}})}));
  program.funcs.push_back(main);
  return program;
}

LoopProgram Adders(Convention convention) {
  LoopProgram program;
  program.funcs = {AddFunc("add1", 1, convention), AddFunc("add2", 2, convention)};
  return program;
}

void ExpectSumOfBoth(const Jit& jit) {
  ChainArguments x;
  EXPECT_TRUE(jit.Run("f", {static_cast<void*>(x.a), x.out}).ok());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(x.out[i], x.a[i] + 3);
}

TEST(CallTest, FunctionsOfOtherProgramsAreLinked) {
  for (Convention convention : {Convention::kPacked, Convention::kUnpacked}) {
    const auto adders = Jit::Create(Adders(convention), Target::Host());
    ASSERT_TRUE(adders.ok()) << adders.status();
    const auto jit =
        Jit::Create(CallsOthers(convention, false), Target::Host(),
                    {{"add1", (*adders)->Lookup("add1")}, {"add2", (*adders)->Lookup("add2")}});
    ASSERT_TRUE(jit.ok()) << jit.status();
    ExpectSumOfBoth(**jit);
  }
}

const Jit* environment = nullptr;
int LookUp(void*, const char* name, void** function) {
  *function = environment->Lookup(name);
  return *function == nullptr ? -1 : 0;
}
int CallFunction(void* function, void** values, int* codes, int count, void* result, int* code) {
  return reinterpret_cast<PackedFunction>(function)(values, codes, count,
                                                    static_cast<void**>(result), code, nullptr);
}

TEST(CallTest, FunctionsAreLookedUpByName) {
  const auto adders = Jit::Create(Adders(Convention::kPacked), Target::Host());
  ASSERT_TRUE(adders.ok()) << adders.status();
  const auto jit = Jit::Create(CallsOthers(Convention::kPacked, true), Target::Host(),
                               {{"TVMBackendGetFuncFromEnv", reinterpret_cast<void*>(&LookUp)},
                                {"TVMFuncCall", reinterpret_cast<void*>(&CallFunction)}},
                               {.module_context = "module_context"});
  ASSERT_TRUE(jit.ok()) << jit.status();
  EXPECT_NE((*jit)->Lookup("module_context"), nullptr);
  environment = adders->get();
  ExpectSumOfBoth(**jit);
  environment = jit->get();  // has no add1
  ChainArguments x;
  EXPECT_FALSE((*jit)->Run("f", {static_cast<void*>(x.a), x.out}).ok());
}

int allocations = 0;
void* CountingAlloc(int, int, uint64_t bytes, int, int) {
  ++allocations;
  return std::aligned_alloc(128, (bytes + 127) / 128 * 128);
}
void* FailingAlloc(int, int, uint64_t, int, int) { return nullptr; }
int CountingFree(int, int, void* memory) {
  --allocations;
  std::free(memory);
  return 0;
}

TEST(CallTest, PackedFunctionAllocatesItsWorkspaceAndGivesItBack) {
  LoopProgram program;
  program.funcs.push_back(AddFunc("add1", 1, Convention::kPacked, Workspace(32)));
  program.funcs[0].allocate_workspace = true;
  ChainArguments x;
  std::vector<TestTensor> tensors = {x.A(), x.Out()};
  const std::pair<const std::string, void*> free = {"TVMBackendFreeWorkspace",
                                                    reinterpret_cast<void*>(&CountingFree)};
  PackedCall call(program, "add1",
                  {{"TVMBackendAllocWorkspace", reinterpret_cast<void*>(&CountingAlloc)}, free});
  EXPECT_EQ(call(tensors), 0) << JitLastError();
  EXPECT_EQ(x.out[0], 2);
  EXPECT_EQ(allocations, 0);
  PackedCall starved(program, "add1",
                     {{"TVMBackendAllocWorkspace", reinterpret_cast<void*>(&FailingAlloc)}, free});
  EXPECT_EQ(starved(tensors), -1);
  EXPECT_EQ(JitLastError(), "add1: no memory for the workspace, bytes: 32");
}

TEST(CallTest, GetterHandsOutData) {
  LoopProgram program;
  using loop::DataValue;
  program.data.push_back(
      {.name = "table",
       .c_type = "struct Table",
       .value = DataValue::Struct({DataValue::Int(8, 5), DataValue::String("hi"),
                                   DataValue::Int(16, -2), DataValue::Int(64, 9)})});
  program.getters.push_back({.name = "get_table", .data_symbol = "table"});
  program.getters.push_back({.name = "Table", .data_symbol = "table", .packed = false});
  auto jit = *Jit::Create(program, Target::Host());
  auto getter = reinterpret_cast<PackedFunction>(jit->Lookup("get_table"));
  ASSERT_NE(getter, nullptr);
  struct Table {
    int8_t a;
    const char* text;
    int16_t b;
    int64_t c;
  }* table = nullptr;
  int32_t code = 4;
  EXPECT_EQ(getter(nullptr, nullptr, 0, &table, &code, nullptr), 0);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(reinterpret_cast<Table* (*)()>(jit->Lookup("Table"))(), table);
  EXPECT_EQ(table->a, 5);
  EXPECT_STREQ(table->text, "hi");
  EXPECT_EQ(table->b, -2);
  EXPECT_EQ(table->c, 9);
}

TEST(CallTest, ATensorsDeviceIsAsWideAsAnEnum) {
  const LoopProgram program = CallsOthers(Convention::kPacked, /*by_name=*/false);
  for (const auto& [target, type] :
       std::map<std::string, std::string>{{"x86-64", "{ ptr, i32, i32,"},
                                          {"aarch64", "{ ptr, i32, i32,"},
                                          {"riscv32imac", "{ ptr, i32, i32,"},
                                          {"armv7-unknown-linux-gnueabihf", "{ ptr, i32, i32,"},
                                          {"cortex-m3", "{ ptr, i8, i32,"},
                                          {"cortex-m55", "{ ptr, i8, i32,"}}) {
    const std::string text = *EmitLlvmText(program, *Target::Parse(target));
    EXPECT_NE(text.find("%DLTensor = type " + type), std::string::npos) << target;
  }
}

TEST(CallTest, MissingCalleesAreErrors) {
  LoopProgram program = OneFunc({}, 0, loop::MakeCall("nowhere", {}));
  EXPECT_EQ(EmitObject(program, Target::Host()).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace kiln::codegen
