// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kHalf = DType::Float(16);
constexpr DType kFloat = DType::Float(32);

// Runs `body` over a buffer of inputs and one of outputs.
template <typename In, typename Out>
std::vector<Out> RunOn(const Stmt& body, const Buffer& in, const Buffer& out,
                       std::vector<In> inputs) {
  LoopProgram program;
  Func func;
  func.name = "f";
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = body;
  program.funcs.push_back(func);
  std::vector<Out> outputs(inputs.size());
  std::vector<void*> args = {inputs.data(), outputs.data()};
  EXPECT_TRUE(Interpreter(program).Run("f", args).ok());
  return outputs;
}

// Whether float16 is left in loads and stores only.
bool IsLegal(const Stmt& s) {
  bool legal = true;
  VisitStmt(s, [&](const Expr& e) {
    if (e.type().dtype != kHalf) return;
    legal = legal && (e.As<Load>() != nullptr || e.As<Bitcast>() != nullptr);
  });
  return legal;
}

TEST(LegalizeFloat16Test, EveryHalfBecomesItsFloat) {
  const int64_t n = 65536;
  const Buffer in = MakeBuffer("in", kHalf, {n}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kFloat, {n}, BufferScope::kParam);
  const Var i = MakeVar("i");
  const Stmt body = LegalizeFloat16(
      MakeFor(i, 0, n, ForKind::kSerial, MakeStore(out, {i}, MakeCast(kFloat, MakeLoad(in, {i})))));
  EXPECT_TRUE(IsLegal(body));
  std::vector<uint16_t> halves(n);
  for (int64_t k = 0; k < n; ++k) halves[k] = static_cast<uint16_t>(k);
  const auto floats = RunOn<uint16_t, uint32_t>(body, in, out, halves);
  for (int64_t k = 0; k < n; ++k) {
    ASSERT_EQ(floats[k], std::bit_cast<uint32_t>(FloatFromHalf(halves[k]))) << k;
  }
}

TEST(LegalizeFloat16Test, FloatsRoundToHalves) {
  std::vector<uint32_t> floats;
  // Every half, and what lies beside it and half way to the next.
  for (uint32_t h = 0; h < 65536; ++h) {
    const uint32_t bits = std::bit_cast<uint32_t>(FloatFromHalf(static_cast<uint16_t>(h)));
    for (uint32_t offset : {0u, 1u, ~0u, 0xfffu, 0x1000u, 0x1001u}) floats.push_back(bits + offset);
  }
  // Ties of subnormals.
  for (int k = 0; k < 2100; ++k) {
    const float tie = std::ldexp(static_cast<float>(k) + 0.5f, -24);
    for (float f : {tie, std::nextafter(tie, 1.f), std::nextafter(tie, 0.f)}) {
      floats.push_back(std::bit_cast<uint32_t>(f));
    }
  }
  std::mt19937 rng(7);
  for (int k = 0; k < 100000; ++k) floats.push_back(rng());
  const int64_t n = static_cast<int64_t>(floats.size());
  const Buffer in = MakeBuffer("in", kFloat, {n}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kHalf, {n}, BufferScope::kParam);
  const Var i = MakeVar("i");
  const Stmt body = LegalizeFloat16(
      MakeFor(i, 0, n, ForKind::kSerial, MakeStore(out, {i}, MakeCast(kHalf, MakeLoad(in, {i})))));
  EXPECT_TRUE(IsLegal(body));
  const auto halves = RunOn<uint32_t, uint16_t>(body, in, out, floats);
  for (int64_t k = 0; k < n; ++k) {
    ASSERT_EQ(halves[k], HalfFromFloat(std::bit_cast<float>(floats[k]))) << floats[k];
  }
}

TEST(LegalizeFloat16Test, SelectsConstantsAndCopies) {
  const Buffer in = MakeBuffer("in", kHalf, {8}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kHalf, {8}, BufferScope::kParam);
  const Var i = MakeVar("i");
  const Expr value = MakeSelect(i < 3, MakeLoad(in, {i}),
                                MakeSelect(i < 5, Const(kHalf, 1.5), MakeLoad(in, {Expr(7) - i})));
  const Stmt body = LegalizeFloat16(MakeFor(i, 0, 8, ForKind::kSerial, MakeStore(out, {i}, value)));
  EXPECT_TRUE(IsLegal(body));
  // Signalling NaNs are moved as they are.
  const std::vector<uint16_t> halves = {0x7c01, 0x8000, 1, 2, 3, 4, 5, 0xfc01};
  const std::vector<uint16_t> expected = {0x7c01, 0x8000, 1, 0x3e00, 0x3e00, 1, 0x8000, 0x7c01};
  EXPECT_EQ((RunOn<uint16_t, uint16_t>(body, in, out, halves)), expected);
}

}  // namespace
}  // namespace kiln::loop
