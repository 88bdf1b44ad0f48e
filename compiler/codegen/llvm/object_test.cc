// SPDX-License-Identifier: Apache-2.0
// Objects for every target, their symbols, and shared objects.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/base/tensor.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"
#include "compiler/target/target.h"
#include "llvm/Object/ObjectFile.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::MakeLoad;
using loop::MakeVar;
using loop::Stmt;
using loop::UnaryOp;
using loop::Var;

std::set<std::string> Symbols(const std::string& object, bool undefined) {
  std::set<std::string> names;
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object), "object"));
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return names;
  }
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    const uint32_t flags = llvm::cantFail(symbol.getFlags());
    const bool is_undefined = flags & llvm::object::SymbolRef::SF_Undefined;
    const bool is_global = flags & llvm::object::SymbolRef::SF_Global;
    if (is_undefined != undefined || !is_global) continue;
    names.insert(llvm::cantFail(symbol.getName()).str());
  }
  return names;
}

// Every operation, on float and int8 of 64 elements: `out` has roundings and roots, `low` is
// requantized.
loop::LoopProgram EverythingProgram(int lanes) {
  const Buffer in = Param("in", kF32, {64}), out = Param("out", kF32, {64}),
               bytes = Param("bytes", DType::Int(8), {64}), low = Param("low", DType::Int(8), {64});
  const Var i = MakeVar("i"), j = MakeVar("j");
  auto at = [lanes](const Var& v) {
    return lanes == 1 ? Expr(v) : loop::MakeRamp(v * lanes, 1, lanes);
  };
  const Expr x = MakeLoad(in, {at(i)});
  Expr y = loop::MakeUnary(UnaryOp::kSqrt, loop::MakeUnary(UnaryOp::kAbs, x));
  for (UnaryOp op : {UnaryOp::kFloor, UnaryOp::kCeil, UnaryOp::kTrunc, UnaryOp::kRoundEven}) {
    y = y + loop::MakeUnary(op, x);
  }
  y = loop::Max(loop::Min(y / (x * x + x), x), loop::Const(y.type(), -1));
  y = loop::MakeFma(y, x, y);
  const Expr wide = loop::MakeCast(DType::Int(32), MakeLoad(bytes, {at(j)}));
  const Expr scaled = loop::MakeCast(DType::Int(64), wide * wide) *
                      loop::Const(loop::Type::Of(DType::Int(64), lanes), 1234567);
  const Expr narrow = loop::MakeCast(
      DType::Int(8), loop::MakeCast(kF32, scaled) / loop::Const(loop::Type::Of(kF32, lanes), 3));
  return OneFunc({in, bytes, out, low}, 2,
                 loop::MakeBlock({loop::MakeFor(i, 0, 64 / lanes, ForKind::kSerial,
                                                loop::MakeStore(out, {at(i)}, y)),
                                  loop::MakeFor(j, 0, 64 / lanes, ForKind::kSerial,
                                                loop::MakeStore(low, {at(j)}, narrow))}));
}

// Memory functions, leading zeros for cores without an instruction for them, and helper functions
// of Arm's run-time ABI, or of libgcc for RISC-V. library_calls_test checks which operation calls
// which of them.
bool IsHelper(const Target& target, const std::string& name) {
  static const auto& plain = *new std::set<std::string>{"memcpy", "memset", "memmove", "__clzsi2"};
  const bool is_arm = absl::StartsWith(target.triple, "thumb");
  return plain.count(name) != 0 || absl::StartsWith(name, is_arm ? "__aeabi_" : "__");
}

TEST(ObjectTest, EveryTargetGivesAnObjectThatNeedsNoMathsLibrary) {
  std::vector<std::string> names = ListTargets();
  names.push_back("aarch64-linux-gnu -mcpu=cortex-a72");
  for (const std::string& name : names) {
    const Target target = *Target::Parse(name);
    const loop::LoopProgram program = EverythingProgram(std::min(16, target.Lanes(kF32)));
    LlvmOptions options;
    options.position_independent = !target.is_baremetal();
    absl::StatusOr<std::string> object = EmitObject(program, target, options);
    ASSERT_TRUE(object.ok()) << name << ": " << object.status();
    EXPECT_EQ(Symbols(*object, false), std::set<std::string>{"f"}) << name;
    for (const std::string& symbol : Symbols(*object, true)) {
      EXPECT_TRUE(!target.has_fpu || target.is_baremetal()) << name << " needs " << symbol;
      EXPECT_TRUE(IsHelper(target, symbol)) << name << " needs " << symbol;
    }
    EXPECT_EQ(*object, *EmitObject(program, target, options)) << name;
    EXPECT_TRUE(EmitAssembly(program, target, options).ok()) << name;
  }
}

// Only the calling convention differs, not the instructions.
TEST(ObjectTest, TheFpuComputesWithTheSoftFloatAbi) {
  constexpr absl::string_view kPassesInRegisters = ".eabi_attribute\t28, 1";
  for (const std::string name : {"cortex-m4f", "cortex-m7f", "cortex-m33f", "cortex-m55"}) {
    const loop::LoopProgram program = EverythingProgram(1);
    const Target hard = *Target::Parse(name), soft = *Target::Parse(name + " -mfloat-abi=soft");
    const absl::StatusOr<std::string> by_registers = EmitAssembly(program, hard, {});
    const absl::StatusOr<std::string> assembly = EmitAssembly(program, soft, {});
    ASSERT_TRUE(by_registers.ok() && assembly.ok()) << name;
    EXPECT_TRUE(absl::StrContains(*by_registers, kPassesInRegisters)) << name;
    EXPECT_FALSE(absl::StrContains(*assembly, kPassesInRegisters)) << name;
    for (const char* mnemonic : {"vfma.f32", "vdiv.f32", "vsqrt.f32"}) {
      EXPECT_TRUE(absl::StrContains(*assembly, mnemonic)) << name << " lacks " << mnemonic;
    }
    for (const char* helper : {"__aeabi_f", "__aeabi_d"}) {
      EXPECT_FALSE(absl::StrContains(*assembly, helper)) << name << " calls " << helper;
    }
    EXPECT_EQ(Symbols(*EmitObject(program, soft), true), Symbols(*EmitObject(program, hard), true))
        << name;
  }
}

TEST(ObjectTest, OtherTriplesWorkToo) {
  for (const char* name : {"wasm32-unknown-unknown", "s390x-linux-gnu", "powerpc64le-linux-gnu"}) {
    absl::StatusOr<std::string> object = EmitObject(EverythingProgram(1), *Target::Parse(name), {});
    EXPECT_TRUE(object.ok()) << object.status();
  }
}

// Kiln knows the names of more architectures than Debian's LLVM has code generators for.
TEST(ObjectTest, AnArchitectureThatLlvmLacksIsTheUsersMistake) {
  const absl::StatusOr<Target> target = Target::Parse("tricore-unknown-elf");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(EmitObject(EverythingProgram(1), *target).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// A kernel that runs in parallel, with a constant, data and a getter.
loop::LoopProgram LibraryProgram() {
  const Buffer constant = loop::MakeBuffer("constant", kF32, {64}, loop::BufferScope::kConstant);
  const Buffer in = Param("in", kF32, {64}), out = Param("out", kF32, {64});
  const Var i = MakeVar("i");
  loop::LoopProgram program = OneFunc(
      {in, out}, 1,
      loop::MakeFor(i, 0, 64, ForKind::kParallel,
                    loop::MakeStore(out, {i}, MakeLoad(in, {i}) * MakeLoad(constant, {i}))));
  program.constants.push_back({constant, Tensor::Filled({{64}, kF32}, 2.5)});
  using loop::DataValue;
  program.data.push_back(
      {.name = "blob", .c_type = "uint8_t", .value = DataValue::Raw("bytes"), .exported = true});
  program.data.push_back(
      {.name = "names",
       .c_type = "const char*",
       .value = DataValue::Array({DataValue::String("a"), DataValue::String("b"),
                                  DataValue::Pointer("constant"), DataValue::Function("f"),
                                  DataValue::Null()})});
  program.getters.push_back({.name = "get_names", .data_symbol = "names"});
  loop::OutlineParallel(program, 2);
  return program;
}

TEST(ObjectTest, LoaderPointersLeaveNothingUndefined) {
  const std::string direct = *EmitObject(LibraryProgram(), Target::Host());
  EXPECT_EQ(Symbols(direct, true), std::set<std::string>{"TVMBackendParallelLaunch"});
  LlvmOptions options;
  options.loader_pointers = true;
  options.module_context = "__tvm_module_ctx";
  const std::string through_pointers = *EmitObject(LibraryProgram(), Target::Host(), options);
  EXPECT_EQ(Symbols(through_pointers, true), std::set<std::string>{});
  EXPECT_EQ(Symbols(through_pointers, false),
            (std::set<std::string>{"f", "blob", "get_names", "__TVMBackendParallelLaunch",
                                   "__tvm_module_ctx"}));
}

struct GroupEnv {
  void* sync_handle;
  int32_t num_task;
};
int launches = 0;
int Launch(int (*task)(int, GroupEnv*, void*), void* closure, int) {
  ++launches;
  GroupEnv env{nullptr, 3};
  for (int i = 0; i < env.num_task; ++i) task(i, &env, closure);
  return 0;
}

TEST(ObjectTest, SharedObjectLoadsAndRuns) {
  LlvmOptions options;
  options.loader_pointers = true;
  options.module_context = "__tvm_module_ctx";
  options.module_name = "library";
  const std::string object = *EmitObject(LibraryProgram(), Target::Host(), options);
  const absl::StatusOr<std::string> library = LinkSharedObject(object, "library.so");
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(*library, *LinkSharedObject(object, "library.so"));
  EXPECT_EQ(library->find("/tmp"), std::string::npos);

  const std::string path = testing::TempDir() + "/library.so";
  std::ofstream(path, std::ios::binary) << *library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto** launch = static_cast<decltype(&Launch)*>(dlsym(handle, "__TVMBackendParallelLaunch"));
  ASSERT_NE(launch, nullptr);
  EXPECT_EQ(*launch, nullptr);
  *launch = &Launch;
  EXPECT_NE(dlsym(handle, "__tvm_module_ctx"), nullptr);
  EXPECT_EQ(std::string(static_cast<char*>(dlsym(handle, "blob")), 5), "bytes");
  auto f = reinterpret_cast<int32_t (*)(float*, float*)>(dlsym(handle, "f"));
  ASSERT_NE(f, nullptr);
  std::vector<float> in(64, 2), out(64);
  EXPECT_EQ(f(in.data(), out.data()), 0);
  EXPECT_EQ(out, std::vector<float>(64, 5));
  EXPECT_EQ(launches, 1);
  dlclose(handle);
}

TEST(ObjectTest, SharedObjectsOfOtherMachines) {
  for (const char* name : {"x86-64", "aarch64", "riscv64gc"}) {
    LlvmOptions options;
    options.loader_pointers = true;
    options.module_context = "__tvm_module_ctx";
    const std::string object = *EmitObject(LibraryProgram(), *Target::Parse(name), options);
    const absl::StatusOr<std::string> library = LinkSharedObject(object, "library.so");
    EXPECT_TRUE(library.ok()) << library.status();
  }
}

TEST(ObjectTest, LinkErrorsAreReported) {
  const absl::Status status = LinkSharedObject("not an object", "x.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  // The linker is still usable.
  EXPECT_TRUE(LinkSharedObject(*EmitObject(EverythingProgram(1), Target::Host()), "x.so").ok());
}

}  // namespace
}  // namespace kiln::codegen
