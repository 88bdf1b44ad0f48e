// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

constexpr int64_t kGains = 125;  // of 0 and 1, then three per bit length 2 to 32, every 4 entries
constexpr int kRatioBits = 12, kOutputBits = 6;

InferResult InferSignalGainControl(const InferContext& c) {
  const TensorType &data = c.inputs[0], &noise = c.inputs[1], &gains = c.inputs[2];
  KILN_CONSTRAINT(1, data.dtype == kU32 && noise == data,
                  absl::StrCat(data.ToString(), " and ", noise.ToString()), "uint32 of one shape");
  KILN_CONSTRAINT(2, gains.rank() == 1 && gains.shape[0] >= kGains && gains.dtype == kI16,
                  gains.ToString(), absl::StrCat("an int16 vector of ", kGains, " or more"));
  const int64_t shift = c.attrs.Int("shift");
  KILN_CONSTRAINT(3, shift >= 0 && shift <= 63, absl::StrCat("shift ", shift), "0 to 63");
  return OutputTypes({data});
}

// The gain for a level of noise: one parabola per bit length of the level.
Expr GainOf(const Expr& noise, const Access& gains) {
  const Expr length = Expr(32) - loop::ToIndex(CountLeadingZeros(AsI32(noise)));
  const Expr row = Max(length * Expr(4) - Expr(6), Expr(0));
  const auto gain = [&](const Expr& index) { return AsI32(gains({index})); };
  const Expr is_listed = noise <= Expr(2);
  const Expr first =
      gain(loop::MakeSelect(is_listed, loop::ToIndex(Min(noise, loop::Const(kU32, 2))), row));
  // Position within the range, in 10 bits.
  const Expr left = loop::MakeCast(kU32, Max(Expr(11) - length, Expr(0))),
             right = loop::MakeCast(kU32, Max(length - Expr(11), Expr(0)));
  const Expr x =
      AsI32(loop::MakeBinary(loop::BinaryOp::kAnd, Shr(Shl(noise, left), right), Expr(0x3FF)));
  const Expr slope = Shr(gain(row + Expr(2)) * x, Expr(5)) + Shl(gain(row + Expr(1)), Expr(5));
  const Expr rest = Shr(slope * x + Expr(1 << 14), Expr(15));
  return AsI32(loop::MakeCast(kI16, loop::MakeSelect(is_listed, first, first + rest)));
}

// x^2 / 4 if x is below 2, else x - 1.
Expr Shrunk(const Expr& x) {
  const Expr square = Shr(x * x, Expr(2 + 2 * kRatioBits - kOutputBits));
  const Expr less = Shr(x, Expr(kRatioBits - kOutputBits)) - Expr(1 << kOutputBits);
  return loop::MakeSelect(x < Expr(2 << kRatioBits), square, less);
}

absl::Status LowerSignalGainControl(StageBuilder& b) {
  b.Output(0, [&, data = b.Input(0), noise = b.Input(1), gains = b.Input(2)](const Indices& i) {
    const Expr gain = loop::MakeCast(kU64, loop::MakeCast(kU32, GainOf(noise(i), gains)));
    const Expr product = loop::MakeCast(kU64, data(i)) * gain;
    return Shrunk(loop::MakeCast(kU32, Shr(product, Expr(b.attrs().Int("shift")))));
  });
  return absl::OkStatus();
}

// Gains whose first coefficient halves every two bit lengths.
Tensor Gains() {
  std::vector<double> gains(kGains, 0);
  gains[0] = gains[1] = 32767;
  for (size_t length = 2; length <= 32; ++length) {
    const double first = static_cast<double>(int64_t{32767} >> (length / 2));
    gains[4 * length - 6] = first;
    gains[4 * length - 5] = -static_cast<double>(static_cast<int64_t>(first / 2));
    gains[4 * length - 4] = static_cast<double>(static_cast<int64_t>(first / 8));
  }
  return Values(I16({kGains}), gains);
}

// The expected values come from ApplyPcanAutoGainControlFixed of TensorFlow Lite Micro.
const OpDef kGainControl = {
    {.name = "signal.gain_control",
     .doc = "Per-channel amplitude normalization (PCAN) in fixed point. ratio = data * gain(noise) "
            "/ 2^shift has 12 bits after the binary point. The result has 6 of them: ratio^2 / 4 "
            "if ratio is below 2, and ratio - 1 otherwise. gains[0 … 2] are the gains of 0 to 2. "
            "For a number of n bits, the gain is a + b x + c x^2, where x is the fraction that the "
            "bits after the first one form. a, b and c are at 4 n - 6. Not an operator of Relay.",
     .inputs = {{"data", "uint32 of any shape"},
                {"noise", "uint32 of the shape of data"},
                {"gains", "int16, 125 numbers or more"}},
     .attrs = {{"shift", AttrType::kInt, {}, true, "shift of the product to the right, in bits"}}},
    {"data and noise are uint32 of the same shape",
     absl::StrCat("gains is a vector of int16 with at least ", kGains, " elements"),
     "shift is from 0 to 63"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferSignalGainControl,
    LowerSignalGainControl,
    {Case({Values(U32({8}), {0, 1, 100, 1000, 5, 123456, 4000000000.0, 77}),
           Values(U32({8}), {0, 1, 2, 3, 1000, 1023, 1024, 4000000000.0}), Gains()},
          {{"shift", 6}}, {Values(U32({8}), {0, 0, 335, 3060, 0, 19226, 59499277, 0})}),
     {.inputs = {U32({2, 3}), U32({2, 3}), I16({kGains})},
      .attrs = {{"shift", 3}},
      .input_min = 0,
      .input_max = 5000}},
};
KILN_REGISTER_OP(kGainControl);

}  // namespace
}  // namespace kiln
