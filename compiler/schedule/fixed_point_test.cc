// SPDX-License-Identifier: Apache-2.0
// Requantization: the form that a kernel gets, and that it changes no value.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

using loop::BinaryOp;

constexpr int64_t kRows = 64, kChannels = 24;

Expr I32(int64_t value) { return loop::IntConst(loop::Type::Of(kI32), value); }

loop::Constant Channels(std::string name, const std::vector<int32_t>& pattern) {
  std::vector<int32_t> values;
  for (size_t i = 0; i < kChannels; ++i) values.push_back(pattern[i % pattern.size()]);
  return {loop::MakeBuffer(std::move(name), kI32, {kChannels}, loop::BufferScope::kConstant),
          Tensor::From<int32_t>({kChannels}, kI32, values)};
}

// Products by a constant, requantized by `shifts`: byte = clip(round(x w m / 2^n) + zero).
Kernel Requantisation(DType dtype, const std::vector<int32_t>& shifts, int64_t zero) {
  const Buffer in = Param("in", dtype, {kRows, kChannels});
  const Buffer out = Param("out", kI8, {kRows, kChannels});
  const std::vector<loop::Constant> constants = {
      Channels("weights", {127, -128, 1, -77, 0, 113}),
      Channels("multipliers", {2147483647, 1073741824, 1518500250, 2000000001, 1073741825}),
      Channels("shifts", shifts)};
  const auto value = [&](const Index& i) {
    const Index channel = {i[1]};
    const Expr x = loop::MakeCast(kI32, MakeLoad(in, i)) * MakeLoad(constants[0].buffer, channel);
    const Expr high = loop::RoundingMulHigh(x, MakeLoad(constants[1].buffer, channel));
    const Expr shifted = loop::RoundingShr(high, MakeLoad(constants[2].buffer, channel));
    return loop::MakeCast(kI8, loop::Max(loop::Min(shifted + I32(zero), I32(127)), I32(-128)));
  };
  return {.name = "f",
          .inputs = {in},
          .outputs = {out},
          .constants = constants,
          .stages = {Pointwise(out, value)}};
}

Target Firmware() {
  Target target = VectorTarget(0);
  target.short_of_memory = true;
  return target;
}

std::vector<Target> Targets() {
  std::vector<Target> targets = AllTargets();
  Target doubling = VectorTarget(128);
  doubling.triple = "aarch64-unknown-linux-gnu";
  targets.push_back(doubling);
  targets.push_back(VectorTarget(256));
  targets.back().triple = "x86_64-pc-linux-gnu";
  targets.push_back(Firmware());
  return targets;
}

TEST(FixedPoint, ValuesStayTheSame) {
  for (const Target& target : Targets()) {
    for (const DType dtype : {kI8, kI16, kI32}) {
      for (const int64_t zero : {0, -128, 127, 5}) {
        ExpectLikeNaive(Requantisation(dtype, {1, 2, 7, 31, 12}, zero), target);
        ExpectLikeNaive(Requantisation(dtype, {0, 1, 6}, zero), target);
      }
    }
  }
}

TEST(FixedPoint, SmallSumsTakeTheTopWord) {
  const std::string text = Text(Schedule(Requantisation(kI16, {1, 7}, -128), VectorTarget(0)));
  EXPECT_TRUE(absl::StrContains(text, "rounding_mul_top(")) << text;
  EXPECT_FALSE(absl::StrContains(text, "rounding_mul_high(")) << text;
  EXPECT_FALSE(absl::StrContains(text, "rounding_shr(")) << text;
  // The half and the zero point are one constant, added before the only shift.
  EXPECT_TRUE(absl::StrContains(text, "shifts_half_and__128[")) << text;
  EXPECT_FALSE(absl::StrContains(text, "+ -128i32")) << text;
}

TEST(FixedPoint, LimitsOfATypeAreOneOperation) {
  const Buffer in = Param("in", kI32, {kRows}), out = Param("out", kI32, {kRows});
  const auto text = [&](int64_t least, int64_t most) {
    const Kernel kernel = {.name = "f",
                           .inputs = {in},
                           .outputs = {out},
                           .constants = {},
                           .stages = {Pointwise(out, [&](const Index& i) {
                             return loop::Max(loop::Min(MakeLoad(in, i), I32(most)), I32(least));
                           })}};
    ExpectLikeNaive(kernel, VectorTarget(0));
    return Text(Schedule(kernel, VectorTarget(0)));
  };
  EXPECT_TRUE(absl::StrContains(text(-128, 127), "saturate_int8(in["));
  EXPECT_TRUE(absl::StrContains(text(0, 255), "saturate_uint8(in["));
  EXPECT_TRUE(absl::StrContains(text(-32768, 32767), "saturate_int16(in["));
  EXPECT_TRUE(absl::StrContains(text(0, 65535), "saturate_uint16(in["));
  EXPECT_TRUE(absl::StrContains(text(0, 127), "max(min(in["));
  EXPECT_TRUE(absl::StrContains(text(-127, 127), "max(min(in["));
}

TEST(FixedPoint, AShiftOfAllChannelsHasNumbers) {
  const Buffer in = Param("in", kI16, {kRows}), out = Param("out", kI32, {kRows});
  const auto text = [&](int64_t shift, int64_t zero, const Target& target) {
    const Kernel kernel = {.name = "f",
                           .inputs = {in},
                           .outputs = {out},
                           .constants = {},
                           .stages = {Pointwise(out, [&](const Index& i) {
                             const Expr x = loop::MakeCast(kI32, MakeLoad(in, i));
                             return loop::RoundingShr(x, I32(shift)) + I32(zero);
                           })}};
    ExpectLikeNaive(kernel, target);
    return Text(Schedule(kernel, target));
  };
  for (const Target& target : Targets()) {
    if (target.short_of_memory) continue;
    // 2^4 + 3 * 2^5, and a zero point that would leave no room for the half.
    EXPECT_TRUE(absl::StrContains(text(5, 3, target), "+ 112i32 >> 5i32")) << text(5, 3, target);
    EXPECT_TRUE(absl::StrContains(text(31, 3, target), "+ 1073741824i32 >> 31i32) + 3i32"))
        << text(31, 3, target);
  }
}

// If memory is short, each channel has a byte instead of a word. The zero point is added before the
// last shift by 1.
TEST(FixedPoint, BytesWhereMemoryIsShort) {
  const std::string text = Text(Schedule(Requantisation(kI16, {1, 7}, -128), Firmware()));
  EXPECT_TRUE(absl::StrContains(text, "shifts_less[")) << text;
  EXPECT_TRUE(absl::StrContains(text, "+ -255i32 >> 1i32")) << text;
  EXPECT_FALSE(absl::StrContains(text, "rounding_shr(")) << text;
}

TEST(FixedPoint, SumsOfAnySizeKeepTheDoublingProduct) {
  const std::string text = Text(Schedule(Requantisation(kI32, {1, 7}, 0), VectorTarget(0)));
  EXPECT_TRUE(absl::StrContains(text, "rounding_mul_high(")) << text;
}

// Numbers that are not shifted get no half, and 1 is not subtracted from negative ones.
TEST(FixedPoint, ShiftsBy0HaveNoHalf) {
  const std::string text = Text(Schedule(Requantisation(kI16, {0, 7}, 0), VectorTarget(0)));
  EXPECT_TRUE(absl::StrContains(text, "shifts_is_shifted[")) << text;
  EXPECT_FALSE(absl::StrContains(text, "rounding_shr(")) << text;
  const std::string firmware = Text(Schedule(Requantisation(kI16, {0, 7}, 0), Firmware()));
  EXPECT_TRUE(absl::StrContains(firmware, "rounding_shr(")) << firmware;
}

// A half is added before a shift, and a zero point before halving. Neither may change the sums that
// wrap around.
TEST(FixedPoint, TheLargestNumbersKeepTheirWords) {
  const Buffer in = Param("in", kI32, {kRows}), out = Param("out", kI32, {kRows});
  const auto text = [&](const std::function<Expr(const Expr&)>& value) {
    const Kernel kernel = {
        .name = "f",
        .inputs = {in},
        .outputs = {out},
        .constants = {},
        .stages = {Pointwise(out, [&](const Index& i) { return value(MakeLoad(in, i)); })}};
    ExpectLikeNaive(kernel, VectorTarget(0));
    return Text(Schedule(kernel, VectorTarget(0)));
  };
  const auto halved = [](const Expr& x) { return loop::MakeBinary(BinaryOp::kShr, x, I32(1)); };
  const auto at_most = [](const Expr& x, int64_t most) {
    return loop::Max(loop::Min(x, I32(most)), I32(-5));
  };
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_TRUE(absl::StrContains(
      text([&](const Expr& x) { return loop::RoundingShr(loop::Max(x, I32(0)), I32(1)); }),
      "rounding_shr("));
  EXPECT_FALSE(absl::StrContains(
      text([&](const Expr& x) { return loop::RoundingShr(at_most(x, kMost - 1), I32(1)); }),
      "rounding_shr("));
  EXPECT_TRUE(absl::StrContains(
      text([&](const Expr& x) { return halved(loop::Max(x, I32(-5)) + I32(1)) + I32(-3); }),
      "+ 1i32"));
  EXPECT_TRUE(absl::StrContains(
      text([&](const Expr& x) { return halved(at_most(x, kMost - 1) + I32(1)) + I32(-3); }),
      "+ -5i32"));
}

TEST(FixedPoint, MachinesThatDoubleProductsKeepTheirWord) {
  const std::string text = Text(Schedule(Requantisation(kI16, {1, 7}, 0), Targets()[5]));
  EXPECT_TRUE(absl::StrContains(text, "rounding_mul_high(")) << text;
}

// Operands of TFLite's addition are scaled while they are known to be bytes.
TEST(FixedPoint, ProductsOfShiftedBytesNeedNoUpperHalf) {
  const Buffer in = Param("in", kI8, {256}), out = Param("out", kI32, {256});
  const auto kernel = [&](int64_t shift, int64_t multiplier) {
    return Kernel{.name = "f",
                  .inputs = {in},
                  .outputs = {out},
                  .constants = {},
                  .stages = {Pointwise(out, [&](const Index& i) {
                    const Expr x = loop::MakeCast(kI32, MakeLoad(in, i)) - I32(127);
                    return loop::RoundingMulHigh(loop::MakeBinary(BinaryOp::kShl, x, I32(shift)),
                                                 I32(multiplier));
                  })}};
  };
  for (const Target& target : Targets()) {
    for (const int64_t shift : {1, 15, 20, 23, 24, 30}) {
      for (const int64_t multiplier :
           {1, 1073741824, 1610612736, 1623821475, 2147483647, 1073741825}) {
        ExpectLikeNaive(kernel(shift, multiplier), target);
      }
    }
    const auto text = [&](int64_t shift, int64_t multiplier) {
      return Text(Schedule(kernel(shift, multiplier), target));
    };
    const char mul[] = "rounding_mul_";
    EXPECT_FALSE(absl::StrContains(text(20, 1073741824), mul)) << text(20, 1073741824);
    EXPECT_EQ(absl::StrContains(text(20, 1623821475), mul), target.triple != "x86_64-pc-linux-gnu");
    // Shifted bytes that exceed int32.
    EXPECT_TRUE(absl::StrContains(text(24, 1073741824), mul));
  }
}

// x - c1[i] + c2[i], which wraps around.
TEST(FixedPoint, ConstantsThatAreAddedBecomeOne) {
  const Buffer in = Param("in", kI32, {kRows, kChannels});
  const Buffer out = Param("out", kI32, {kRows, kChannels});
  const std::vector<loop::Constant> constants = {Channels("correction", {2147483647, -3, 70}),
                                                 Channels("bias", {-2147483647 - 1, 2, -5})};
  const Kernel kernel = {.name = "f",
                         .inputs = {in},
                         .outputs = {out},
                         .constants = constants,
                         .stages = {Pointwise(out, [&](const Index& i) {
                           return MakeLoad(in, i) - MakeLoad(constants[0].buffer, {i[1]}) +
                                  MakeLoad(constants[1].buffer, {i[1]});
                         })}};
  for (const Target& target : Targets()) {
    const Scheduled scheduled = Schedule(kernel, target);
    ASSERT_EQ(scheduled.constants.size(), 1);
    EXPECT_EQ(scheduled.constants[0].tensor.AsInt(0), 1);
    EXPECT_EQ(scheduled.constants[0].tensor.AsInt(1), 5);
    ExpectLikeNaive(kernel, target);
  }
}

}  // namespace
}  // namespace kiln::schedule
