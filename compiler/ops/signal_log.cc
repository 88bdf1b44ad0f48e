// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

constexpr int kSegmentBits = 7, kFractionBits = 16;
constexpr int kInSegmentBits = kFractionBits - kSegmentBits;

InferResult InferSignalLog(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype == kU32, c.inputs[0].dtype.ToString(), "uint32");
  const int64_t bits = c.attrs.Int("input_correction_bits"), scale = c.attrs.Int("output_scale");
  KILN_CONSTRAINT(2, bits >= 0 && bits <= 31, absl::StrCat("input_correction_bits ", bits),
                  "0 to 31");
  KILN_CONSTRAINT(3, scale >= 0 && scale <= INT32_MAX, absl::StrCat("output_scale ", scale),
                  "0 to 2^31 - 1");
  return OutputTypes({{c.inputs[0].shape, kI16}});
}

// log2(1 + x) - x at the ends of 128 equal segments of 0 … 1.
Tensor Corrections() {
  std::vector<uint16_t> values;
  for (int i = 0; i <= 1 << kSegmentBits; ++i) {
    const double x = std::ldexp(i, -kSegmentBits);
    values.push_back(
        static_cast<uint16_t>(std::lround(std::ldexp(std::log2(1 + x) - x, kFractionBits))));
  }
  return Tensor::From<uint16_t>({static_cast<int64_t>(values.size())}, DType::UInt(16), values);
}

// log2(x) with 16 fraction bits, for x of at least 1.
Expr Log2(const Expr& x, const Access& corrections) {
  const Expr whole = Expr(31) - loop::ToIndex(CountLeadingZeros(AsI32(x)));
  const auto count = [](const Expr& bits) { return loop::MakeCast(kU32, Max(bits, Expr(0))); };
  const Expr one = Shl(loop::IntConst(x.type(), 1), count(whole));
  const Expr fraction = AsI32(
      Shr(Shl(x - one, count(Expr(kFractionBits) - whole)), count(whole - Expr(kFractionBits))));
  const Expr segment = ClampIndex(Shr(fraction, Expr(kInSegmentBits)), 1 << kSegmentBits);
  const Expr from = AsI32(corrections({segment})), to = AsI32(corrections({segment + Expr(1)}));
  const Expr in_segment =
      loop::MakeBinary(loop::BinaryOp::kAnd, fraction, Expr((1 << kInSegmentBits) - 1));
  const Expr between = Shr((to - from) * in_segment, Expr(kFractionBits));
  return Shl(count(whole), Expr(kFractionBits)) + loop::MakeCast(kU32, fraction + from + between);
}

absl::Status LowerSignalLog(StageBuilder& b) {
  const int64_t half = int64_t{1} << (kFractionBits - 1);
  const Access corrections = b.Table("corrections", Corrections());
  b.Output(0, [&, data = b.Input(0)](const Indices& i) {
    const Expr x = Shl(data(i), Expr(b.attrs().Int("input_correction_bits")));
    const Expr log2 = Log2(Max(x, loop::IntConst(x.type(), 1)), corrections);
    const Expr ln2 =
        loop::IntConst(loop::Type::Of(kU64), std::lround(std::ldexp(std::log(2.0), 16)));
    const Expr log = loop::MakeCast(
        kU32, Shr(loop::MakeCast(kU64, log2) * ln2 + Expr(half), Expr(kFractionBits)));
    const Expr scaled =
        Shr(log * Expr(b.attrs().Int("output_scale")) + Expr(half), Expr(kFractionBits));
    return loop::MakeCast(
        kI16, loop::MakeSelect(x > Expr(1), Min(scaled, loop::IntConst(x.type(), INT16_MAX)),
                               loop::IntConst(x.type(), 0)));
  });
  return absl::OkStatus();
}

// The expected values come from FilterbankLog of TensorFlow Lite Micro.
const OpDef kLog = {
    {.name = "signal.log",
     .doc = "The natural logarithm in fixed point: output_scale * log(data * "
            "2^input_correction_bits), limited to 32767. The argument of log is taken modulo 2^32, "
            "and the result is 0 for 0 and 1. log2 is interpolated between the ends of 128 "
            "segments. Not an operator of Relay.",
     .inputs = {{"data", "uint32 of any shape"}},
     .attrs =
         {{"input_correction_bits", AttrType::kInt, {}, true, "shift of data to the left, in bits"},
          {"output_scale", AttrType::kInt, {}, true, "number that stands for 1 in the result"}}},
    {"data is uint32", "input_correction_bits is 0 to 31", "output_scale is 0 to 2^31 - 1"},
    {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
    InferSignalLog,
    LowerSignalLog,
    {Case({Values(U32({8}), {0, 1, 2, 100, 12345, 65536, 123456789, 536870911})},
          {{"input_correction_bits", 3}, {"output_scale", 64}},
          {Values(I16({8}), {0, 133, 177, 428, 736, 843, 1326, 1420})}),
     Case({Values(U32({5}), {0, 1, 2, 4294967295.0, 3000000000.0})},
          {{"input_correction_bits", 0}, {"output_scale", 1600}},
          {Values(I16({5}), {0, 0, 1109, 32767, 32767})}),
     {.inputs = {U32({2, 3})},
      .attrs = {{"input_correction_bits", 2}, {"output_scale", 100}},
      .input_min = 0}},
};
KILN_REGISTER_OP(kLog);

}  // namespace
}  // namespace kiln
