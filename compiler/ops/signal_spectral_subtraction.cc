// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// Checks a list of one factor, for all channels, or of two, for the even and the odd ones.
absl::Status CheckFactors(const Attrs& attrs, const std::string& name) {
  const std::vector<int64_t> factors = attrs.Ints(name);
  KILN_CONSTRAINT(2, factors.size() == 1 || factors.size() == 2,
                  absl::StrCat(factors.size(), " numbers as ", name), "1 or 2");
  for (int64_t factor : factors) {
    KILN_CONSTRAINT(2, factor >= 0 && factor <= UINT32_MAX, absl::StrCat(name, " ", factor),
                    "a uint32");
  }
  return absl::OkStatus();
}

InferResult InferSignalSpectralSubtraction(const InferContext& c) {
  const TensorType &data = c.inputs[0], &noise = c.inputs[1];
  KILN_CONSTRAINT(1, data.rank() == 1 && data.dtype == kU32 && noise == data,
                  absl::StrCat(data.ToString(), " and ", noise.ToString()),
                  "two vectors of uint32 of one length");
  KILN_RETURN_IF_ERROR(CheckFactors(c.attrs, "smoothing"));
  KILN_RETURN_IF_ERROR(CheckFactors(c.attrs, "one_minus_smoothing"));
  const int64_t floor = c.attrs.Int("min_signal_remaining");
  KILN_CONSTRAINT(2, floor >= 0 && floor <= UINT32_MAX,
                  absl::StrCat("min_signal_remaining ", floor), "a uint32");
  for (const char* bits : {"smoothing_bits", "fraction_bits"}) {
    KILN_CONSTRAINT(3, c.attrs.Int(bits) >= 0 && c.attrs.Int(bits) <= 31,
                    absl::StrCat(bits, " ", c.attrs.Int(bits)), "0 to 31");
  }
  return OutputTypes({data, data});
}

Expr Wide(const Expr& x) { return loop::MakeCast(kU64, x); }

// The factor of a channel, as uint64.
Expr FactorOf(const Expr& channel, const std::vector<int64_t>& factors) {
  const auto number = [](int64_t value) { return loop::IntConst(loop::Type::Of(kU64), value); };
  return loop::MakeSelect(channel % Expr(2) == Expr(0), number(factors.front()),
                          number(factors.back()));
}

absl::Status LowerSignalSpectralSubtraction(StageBuilder& b) {
  const Attrs& attrs = b.attrs();
  const int64_t up = attrs.Int("smoothing_bits"), fraction = attrs.Int("fraction_bits");
  const Access data = b.Input(0), noise = b.Input(1);
  const auto scaled = [&](const Indices& i) { return Shl(data(i), up); };
  const Access estimate = b.Compute("estimate", b.input_shape(0), [&](const Indices& i) {
    const Expr sum = Wide(scaled(i)) * FactorOf(i[0], attrs.Ints("smoothing")) +
                     Wide(noise(i)) * FactorOf(i[0], attrs.Ints("one_minus_smoothing"));
    return loop::MakeCast(kU32, Shr(sum, fraction));
  });
  b.Output(0, [&](const Indices& i) {
    const Expr floor = loop::MakeCast(
        kU32, Shr(Wide(data(i)) * Expr(attrs.Int("min_signal_remaining")), fraction));
    return Max(Shr(scaled(i) - Min(estimate(i), scaled(i)), up), floor);
  });
  b.Output(1, [&](const Indices& i) {
    return attrs.Bool("clamping") ? Min(estimate(i), scaled(i)) : estimate(i);
  });
  return absl::OkStatus();
}

Attrs Factors(bool clamping) {
  return {{"smoothing", AttrValue::Ints({409, 983})},
          {"one_minus_smoothing", AttrValue::Ints({15975, 15401})},
          {"min_signal_remaining", 819},
          {"smoothing_bits", 10},
          {"fraction_bits", 14},
          {"clamping", clamping}};
}

// The expected values come from FilterbankSpectralSubtraction of TensorFlow Lite Micro.
const OpDef kSpectralSubtraction = {
    {.name = "signal.spectral_subtraction",
     .doc =
         "A signal minus an estimate of its noise, for each channel, and the next estimate:\n"
         "scaled = data * 2^smoothing_bits\n"
         "next = (scaled * smoothing + noise * one_minus_smoothing) / 2^fraction_bits\n"
         "floor = data * min_signal_remaining / 2^fraction_bits\n"
         "result = max((scaled - min(next, scaled)) / 2^smoothing_bits, floor)\n"
         "Quotients are rounded down, and scaled is taken modulo 2^32. Not an operator of Relay.",
     .inputs = {{"data", "a vector of uint32, the signal of each channel"},
                {"noise", "the previous estimate, times 2^smoothing_bits"}},
     .attrs =
         {{"smoothing",
           AttrType::kInts,
           {},
           true,
           "smoothing of all channels, or of even and odd ones"},
          {"one_minus_smoothing", AttrType::kInts, {}, true, "1 minus smoothing, in the same form"},
          {"min_signal_remaining",
           AttrType::kInt,
           {},
           true,
           "least share of the signal that remains"},
          {"smoothing_bits", AttrType::kInt, {}, true, "number of additional bits of the estimate"},
          {"fraction_bits",
           AttrType::kInt,
           {},
           true,
           "number of bits of the factors after the binary point"},
          {"clamping", AttrType::kBool, false, false,
           "true if an estimate above the signal becomes the signal"}},
     .num_outputs = [](const Attrs&, size_t) -> absl::StatusOr<int> { return 2; }},
    {"data and noise are vectors of uint32 of the same length",
     "smoothing and one_minus_smoothing have one or two numbers, and all factors are uint32",
     "smoothing_bits and fraction_bits are from 0 to 31"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferSignalSpectralSubtraction,
    LowerSignalSpectralSubtraction,
    {Case({Values(U32({4}), {1000, 1000, 5, 70000}), Values(U32({4}), {0, 5000000, 90000, 100})},
          Factors(false),
          {Values(U32({4}), {975, 49, 0, 65800}),
           Values(U32({4}), {25562, 4761449, 87881, 4300719})}),
     Case({Values(U32({3}), {1, 2, 4000000000.0}), Values(U32({3}), {9000, 4000000000.0, 7})},
          Factors(true),
          {Values(U32({3}), {0, 0, 199951171}), Values(U32({3}), {1024, 2048, 72298118})}),
     {.inputs = {U32({2}), U32({2})}, .attrs = Factors(false), .input_min = 0}},
};
KILN_REGISTER_OP(kSpectralSubtraction);

}  // namespace
}  // namespace kiln
