// SPDX-License-Identifier: Apache-2.0
// float16: the machine's conversions, and the arithmetic that replaces them, compute the
// interpreter's bits for every operand, with scalars and vectors.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/test_programs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/float16_values.h"
#include "compiler/loop/loop.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::MakeCast;
using loop::MakeLoad;
using loop::Var;

constexpr DType kHalf = DType::Float(16);
constexpr DType kFloat = DType::Float(32);

std::string Zeros(const Buffer& buffer) {
  return std::string(static_cast<size_t>(buffer->num_bytes()), '\0');
}

// The program out[i] = value(in[i]) for all i, and its operands.
struct Conversion {
  template <typename F>
  Conversion(DType from, DType to, std::string values, int lanes, F value)
      : operands(std::move(values)) {
    const int64_t n = static_cast<int64_t>(operands.size()) / from.bytes();
    const Buffer in = Param("in", from, {n}), out = Param("out", to, {n});
    const Var i = loop::MakeVar("i");
    const Expr at = lanes == 1 ? Expr(i) : loop::MakeRamp(i * lanes, 1, lanes);
    program = OneFunc({in, out}, 1,
                      loop::MakeFor(i, 0, n / lanes, loop::ForKind::kSerial,
                                    loop::MakeStore(out, {at}, value(MakeLoad(in, {at})))));
    args = {operands, Zeros(out)};
  }
  std::string operands;
  loop::LoopProgram program;
  std::vector<std::string> args;
};

std::vector<Conversion> Conversions() {
  std::vector<Conversion> conversions;
  for (int lanes : {1, 4, 8, 16}) {
    conversions.emplace_back(kHalf, kFloat, loop::AllHalves(), lanes,
                             [](const Expr& x) { return MakeCast(kFloat, x); });
    conversions.emplace_back(kFloat, kHalf, loop::FloatsAroundHalves(), lanes,
                             [](const Expr& x) { return MakeCast(kHalf, x); });
    // In float32: the product is neither rounded to float16 nor fused with the sum.
    conversions.emplace_back(kHalf, kHalf, loop::AllHalves(), lanes, [](const Expr& x) {
      const Expr wide = MakeCast(kFloat, x);
      return MakeCast(kHalf, wide * wide + wide);
    });
  }
  return conversions;
}

TEST(Float16Test, ConversionsOnEveryMachine) {
  for (const Conversion& conversion : Conversions()) {
    for (const Target& target : RunnableTargets()) {
      ExpectSameBits(conversion.program, "f", conversion.args, target);
    }
  }
}

TEST(Float16Test, ConversionsByArithmetic) {
  for (const Conversion& conversion : Conversions()) {
    const absl::StatusOr<std::string> object =
        EmitObjectWithTraits(conversion.program, Target::Host(), {}, MachineTraits{});
    ASSERT_TRUE(object.ok()) << object.status();
    const absl::StatusOr<std::unique_ptr<Jit>> jit = Jit::FromObject(*object, Target::Host());
    ASSERT_TRUE(jit.ok()) << jit.status();
    ExpectSameBits(conversion.program, "f", conversion.args, **jit, "software");
  }
}

TEST(Float16Test, WhatIsOnlyMovedKeepsItsBits) {
  const Buffer in = Param("in", kHalf, {65536}), out = Param("out", DType::UInt(16), {65536});
  const Var i = loop::MakeVar("i");
  const Expr x = MakeLoad(in, {i}), other = MakeLoad(in, {Expr(65535) - i});
  const Expr value =
      MakeSelect(i < 40000, MakeSelect(i % Expr(2) == 0, x, other),
                 MakeSelect(i % Expr(3) == 0, loop::FloatConst(x.type(), 0x1.8p-24), other));
  // As uint16, so that the bits of NaNs are compared.
  const loop::LoopProgram program =
      OneFunc({in, out}, 1,
              loop::MakeFor(i, 0, 65536, loop::ForKind::kSerial,
                            loop::MakeStore(out, {i}, MakeBitcast(DType::UInt(16), value))));
  for (const Target& target : RunnableTargets()) {
    ExpectSameBits(program, "f", {loop::AllHalves(), Zeros(out)}, target);
  }
}

TEST(Float16Test, MachinesUseTheirInstructions) {
  const auto assembly = [](int lanes, const char* target) {
    const Conversion conversion(kHalf, kHalf, loop::AllHalves(), lanes, [](const Expr& x) {
      const Expr wide = MakeCast(kFloat, x);
      return MakeCast(kHalf, wide + wide);
    });
    absl::StatusOr<std::string> text = EmitAssembly(conversion.program, *Target::Parse(target));
    return text.ok() ? *text : text.status().ToString();
  };
  const struct {
    const char* target;
    int lanes;
    const char* widen;
    const char* narrow;
  } kMachines[] = {{"x86-64-v3", 8, "vcvtph2ps", "vcvtps2ph"},
                   {"x86-64-v4", 16, "vcvtph2ps", "vcvtps2ph"},
                   {"aarch64", 4, "fcvtl", "fcvtn"},
                   {"cortex-m4f", 1, "vcvtb.f32.f16", "vcvtb.f16.f32"}};
  for (const auto& machine : kMachines) {
    const std::string text = assembly(machine.lanes, machine.target);
    EXPECT_NE(text.find(machine.widen), std::string::npos) << machine.target << "\n" << text;
    EXPECT_NE(text.find(machine.narrow), std::string::npos) << machine.target << "\n" << text;
  }
  // No functions of a compiler's library: __extendhfsf2, __truncsfhf2, __gnu_h2f_ieee.
  for (const char* target : {"x86-64", "cortex-m3", "cortex-m4f", "riscv32imac"}) {
    const std::string text = assembly(1, target);
    for (const char* name : {"hfsf", "sfhf", "h2f", "f2h"}) {
      EXPECT_EQ(text.find(name), std::string::npos) << target << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace kiln::codegen
