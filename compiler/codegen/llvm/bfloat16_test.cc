// SPDX-License-Identifier: Apache-2.0
// bfloat16: the machine's conversion and products, and the arithmetic that replaces them, compute
// the interpreter's bits for random and extreme operands.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
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
using loop::MakeLoad;
using loop::Var;

constexpr DType kFloat = DType::Float(32), kBFloat = DType::BFloat();
constexpr int64_t kCount = 1 << 16;
constexpr int kGroup = 2;

struct Operands {
  loop::LoopProgram program;
  std::vector<std::string> args;
};

Expr At(const Expr& i, int lanes) { return lanes == 1 ? i : loop::MakeRamp(i * lanes, 1, lanes); }

// Converts floats to bfloat16 and back.
Operands Conversion(int lanes) {
  const std::string floats = loop::FloatsAroundHalves() + loop::SumsOfBFloats(kCount, 11, false);
  const auto n = static_cast<int64_t>(floats.size()) / kFloat.bytes();
  const Buffer in = Param("in", kFloat, {n}), out = Param("out", kFloat, {n});
  const Var i = loop::MakeVar("i");
  const Expr narrow = loop::MakeCast(kBFloat, MakeLoad(in, {At(i, lanes)}));
  const loop::Stmt store = loop::MakeStore(out, {At(i, lanes)}, loop::MakeCast(kFloat, narrow));
  return {OneFunc({in, out}, 1, loop::MakeFor(i, 0, n / lanes, loop::ForKind::kSerial, store)),
          {floats, std::string(floats.size(), '\0')}};
}

// Adds one group of products to each of many sums.
Operands Products(int lanes, bool finite) {
  const Buffer a = Param("a", kBFloat, {kGroup * kCount}),
               b = Param("b", kBFloat, {kGroup * kCount}), sums = Param("sums", kFloat, {kCount}),
               out = Param("out", kFloat, {kCount});
  const Var i = loop::MakeVar("i");
  const int factors = kGroup * lanes;
  const auto groups = [&](const Buffer& buffer) { return MakeLoad(buffer, {At(i, factors)}); };
  const Expr dot = loop::MakeDot({.instruction = "vdpbf16ps", .group = kGroup},
                                 MakeLoad(sums, {At(i, lanes)}), groups(a), groups(b));
  return {OneFunc({a, b, sums, out}, 3,
                  loop::MakeFor(i, 0, kCount / lanes, loop::ForKind::kSerial,
                                loop::MakeStore(out, {At(i, lanes)}, dot))),
          {loop::BFloats(kGroup * kCount, 1, finite), loop::BFloats(kGroup * kCount, 2, finite),
           loop::SumsOfBFloats(kCount, 3, finite), std::string(kCount * sizeof(float), '\0')}};
}

std::vector<Operands> AllOperands() {
  std::vector<Operands> all;
  for (const int lanes : {1, 4, 8, 16}) {
    all.push_back(Conversion(lanes));
    all.push_back(Products(lanes, true));
    all.push_back(Products(lanes, false));
  }
  return all;
}

TEST(BFloat16Test, OnEveryMachineAtHand) {
  for (const Operands& operands : AllOperands()) {
    for (const Target& target : RunnableTargets()) {
      ExpectSameBits(operands.program, "f", operands.args, target);
    }
  }
}

TEST(BFloat16Test, ByArithmetic) {
  for (const Operands& operands : AllOperands()) {
    const absl::StatusOr<std::string> object =
        EmitObjectWithTraits(operands.program, Target::Host(), {}, MachineTraits{});
    ASSERT_TRUE(object.ok()) << object.status();
    const absl::StatusOr<std::unique_ptr<Jit>> jit = Jit::FromObject(*object, Target::Host());
    ASSERT_TRUE(jit.ok()) << jit.status();
    ExpectSameBits(operands.program, "f", operands.args, **jit, "software");
  }
}

TEST(BFloat16Test, MachinesUseTheirInstructions) {
  for (const int lanes : {8, 16}) {
    for (const char* features : {"", " -mattr=+avx512bf16"}) {
      const Target target = *Target::Parse(std::string("x86-64-v4") + features);
      const bool has = target.HasFeature("avx512bf16");
      const auto conversion = EmitAssembly(Conversion(lanes).program, target);
      const auto products = EmitAssembly(Products(lanes, true).program, target);
      ASSERT_TRUE(conversion.ok() && products.ok());
      EXPECT_EQ(absl::StrContains(*conversion, "vcvtneps2bf16"), has) << *conversion;
      EXPECT_EQ(absl::StrContains(*products, "vdpbf16ps"), has) << *products;
    }
  }
}

}  // namespace
}  // namespace kiln::codegen
