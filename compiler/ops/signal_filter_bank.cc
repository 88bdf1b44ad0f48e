// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

enum { kData, kWeights, kBins, kChannels };

constexpr int64_t kMaxChannels = 1 << 16;

InferResult InferSignalFilterBank(const InferContext& c) {
  const TensorType &data = c.inputs[kData], &weights = c.inputs[kWeights];
  KILN_CONSTRAINT(1, data.rank() == 1 && data.shape[0] >= 1 && data.dtype == kU32, data.ToString(),
                  "a vector of uint32 with at least one element");
  KILN_CONSTRAINT(2, weights.rank() == 2 && weights.dtype == kI16, weights.ToString(),
                  "int16 of shape (terms, width)");
  for (const int input : {kBins, kChannels}) {
    const TensorType& table = c.inputs[static_cast<size_t>(input)];
    KILN_CONSTRAINT(3, table.shape == Shape({weights.shape[0]}) && table.dtype.is_integral(),
                    table.ToString(), absl::StrCat("integers of shape (", weights.shape[0], ",)"));
  }
  const int64_t channels = c.attrs.Int("num_channels");
  KILN_CONSTRAINT(4, channels >= 1 && channels <= kMaxChannels,
                  absl::StrCat("num_channels ", channels), absl::StrCat("1 to ", kMaxChannels));
  return OutputTypes({{{channels}, kU64}});
}

absl::Status LowerSignalFilterBank(StageBuilder& b) {
  b.Output(0, [](const Indices&) { return loop::IntConst(loop::Type::Of(kU64), 0); });
  const Shape terms = b.input_shape(kWeights);
  if (NumElements(terms) == 0) return absl::OkStatus();
  const Access data = b.Input(kData), weights = b.Input(kWeights), bins = b.Input(kBins),
               channels = b.Input(kChannels);
  // A product of two 32-bit numbers takes one instruction, a product of 64-bit numbers three.
  const DType narrow = b.IsWithin(kWeights, 0, kI16.MaxInt()) ? kU32 : DType::Int(64);
  b.Update(
      0, terms,
      [&](const Indices& term) {
        return Indices{ClampIndex(loop::ToIndex(channels({term[0]})) + term[1],
                                  b.attrs().Int("num_channels"))};
      },
      [&](const Indices& term, const Expr& sum) {
        const Expr weight = loop::MakeCast(kU64, loop::MakeCast(narrow, weights(term)));
        const Expr x = data({ClampIndex(bins({term[0]}), b.input_shape(kData)[0])});
        return sum + weight * loop::MakeCast(kU64, x);
      });
  return absl::OkStatus();
}

const OpDef kFilterBank = {
    {.name = "signal.filter_bank",
     .doc = "Weighted sums of the bins of a spectrum. For each k, term t adds data[bins[t]] * "
            "weights[t, k] to channel channels[t] + k, modulo 2^64. In a triangular filter bank, a "
            "bin lies between two channels, and terms have width 2. Bins and channels out of range "
            "count as the nearest ones. Not an operator of Relay.",
     .inputs = {{"data", "uint32, the energy of each bin"},
                {"weights", "int16, (terms, width)"},
                {"bins", "integers, the bin of each term"},
                {"channels", "integers, the first channel of each term"}},
     .attrs = {{"num_channels", AttrType::kInt, {}, true, "number of elements of the result"}}},
    {"data is a vector of uint32 with at least one element",
     "weights is int16 of shape (terms, width)",
     "bins and channels are vectors with one integer per term",
     absl::StrCat("num_channels is 1 to ", kMaxChannels)},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferSignalFilterBank,
    LowerSignalFilterBank,
    {Case({Values(U32({4}), {4000000000.0, 10, 20, 30}),
           Values(I16({3, 2}), {4096, 0, 1000, 3096, 96, 4000}), Values(U8({3}), {0, 2, 3}),
           Values(U8({3}), {0, 0, 1})},
          {{"num_channels", 3}}, {Values({{3}, kU64}, {16384000020000.0, 61920 + 2880, 120000})}),
     Case({Values(U32({2}), {5, 7}), Values(I16({2, 1}), {-1, 3}), Values(I16({2}), {0, 1}),
           Values(I16({2}), {0, 0})},
          {{"num_channels", 1}}, {Values({{1}, kU64}, {16})}),
     {.inputs = {U32({9}), I16({7, 2}), I16({7}), U8({7})},
      .attrs = {{"num_channels", 5}},
      .input_min = 0}},
};
KILN_REGISTER_OP(kFilterBank);

}  // namespace
}  // namespace kiln
