// SPDX-License-Identifier: Apache-2.0
// signal.rfft and signal.irfft.
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fast_fourier.h"

namespace kiln {
namespace {

constexpr int64_t kLeast = 4, kLargest = 1 << 16;

absl::Status CheckTransform(const InferContext& c) {
  const DType dtype = c.inputs[0].dtype;
  KILN_CONSTRAINT(1,
                  dtype == DType::Int(16) || dtype == DType::Int(32) || dtype == DType::Float(32),
                  dtype.ToString(), "int16, int32 or float32");
  const int64_t length = c.attrs.Int("fft_length");
  KILN_CONSTRAINT(
      2,
      length >= kLeast && length <= kLargest && std::has_single_bit(static_cast<uint64_t>(length)),
      absl::StrCat("fft_length ", length),
      absl::StrCat("a power of two from ", kLeast, " to ", kLargest));
  return absl::OkStatus();
}

InferResult InferForward(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckTransform(c));
  const TensorType& data = c.inputs[0];
  const int64_t length = c.attrs.Int("fft_length");
  KILN_CONSTRAINT(3, data.rank() >= 1 && data.shape.back() >= 1 && data.shape.back() <= length,
                  data.ToString(), absl::StrCat("1 to ", length, " samples"));
  Shape shape(data.shape.begin(), data.shape.end() - 1);
  shape.insert(shape.end(), {length / 2 + 1, 2});
  return OutputTypes({{std::move(shape), data.dtype}});
}

InferResult InferInverse(const InferContext& c) {
  KILN_RETURN_IF_ERROR(CheckTransform(c));
  const TensorType& data = c.inputs[0];
  const int64_t length = c.attrs.Int("fft_length");
  const size_t rank = data.shape.size();
  KILN_CONSTRAINT(3, rank >= 2 && data.shape[rank - 2] == length / 2 + 1 && data.shape.back() == 2,
                  data.ToString(), absl::StrCat("(…, ", length / 2 + 1, ", 2)"));
  Shape shape(data.shape.begin(), data.shape.end() - 2);
  shape.push_back(length);
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerForward(StageBuilder& b) {
  const Shape shape = b.input_shape(0);
  const int64_t length = b.attrs().Int("fft_length");
  FastFourier fourier(b, b.input_dtype(0), Shape(shape.begin(), shape.end() - 1), length);
  fourier.Forward([&, data = b.Input(0)](const Indices& i) {
    if (shape.back() == length) return data(i);
    return GuardedValue(data, shape, i, i.back() < Expr(shape.back()),
                        loop::Const(b.input_dtype(0), 0));
  });
  return absl::OkStatus();
}

absl::Status LowerInverse(StageBuilder& b) {
  const Shape shape = b.input_shape(0);
  FastFourier fourier(b, b.input_dtype(0), Shape(shape.begin(), shape.end() - 2),
                      b.attrs().Int("fft_length"));
  fourier.Inverse(b.Input(0));
  return absl::OkStatus();
}

Attrs Length(int64_t length) { return {{"fft_length", length}}; }

const char* const kRoundingDoc =
    " Integers are rounded and scaled by powers of two exactly as in the KISS FFT library, and "
    "floats are added in its order. Not an operator of Relay.";

const AttrSchema kLength = {
    "fft_length", AttrType::kInt, {}, true, "number of samples, a power of two"};

OpDef Transform(OpSchema schema, const char* shape, InferResult (*infer)(const InferContext&),
                absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  return {std::move(schema),
          {"data is int16, int32 or float32",
           absl::StrCat("fft_length is a power of two from ", kLeast, " to ", kLargest), shape},
          {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
          infer,
          lower,
          std::move(examples)};
}

// The expected values come from KISS FFT.
const OpDef kTransforms[] = {
    Transform(
        {.name = "signal.rfft",
         .doc = absl::StrCat("The Fourier transform of real samples along the last axis, with "
                             "zeros after the data. Integers are divided by fft_length.",
                             kRoundingDoc),
         .inputs = {{"data", "(…, samples)"}},
         .attrs = {kLength}},
        "data has 1 to fft_length samples along the last axis", InferForward, LowerForward,
        {Case({Values(I16({4}), {15496, 24200, -32490, -19341})}, Length(4),
              {Values(I16({3, 2}), {-3034, 0, 11995, -10884, -5462, 0})}),
         Case({Values(I16({1, 8}), {15496, 24200, -32490, -19341, 3312, 24216, -14762, -29086})},
              Length(8),
              {Values(I16({1, 5, 2}), {-3557, 0, 660, 1356, 8256, -12103, 2385, -3076, -3553, 0})}),
         Case({Values(I32({8}), {70837908, -1549426461, 1075679462, 1814098701, -1757972216,
                                 -700364601, 1009643386, -82265967})},
              Length(8),
              {Values(I32({5, 2}), {-14971224, 0, -14062449, -100823874, -471557143, 497702973,
                                    471264979, -84314855, 114518358, 0})}),
         Case({Values(F32({4}), {1.0546875, -23.0888672, 16.0283203, 27.03125})}, Length(4),
              {Values(F32({3, 2}), {21.0253906, 0, -14.9736328, 50.1201172, 13.140625, 0})}, 1e-6),
         {.inputs = {I16({2, 11})}, .attrs = Length(16), .input_min = -8000, .input_max = 8000},
         {.inputs = {I16({64})}, .attrs = Length(64), .input_min = -8000, .input_max = 8000},
         {.inputs = {F32({2, 30})}, .attrs = Length(32)},
         {.inputs = {I16({0, 3})}, .attrs = Length(4)}}),
    Transform(
        {.name = "signal.irfft",
         .doc = absl::StrCat(
             "The real samples that have data as their Fourier transform. The last axis of data "
             "has the real and the imaginary part. Floats are fft_length times as large, and "
             "integers are divided by a number that keeps them in range.",
             kRoundingDoc),
         .inputs = {{"data", "(…, fft_length / 2 + 1, 2)"}},
         .attrs = {kLength}},
        "data is (…, fft_length / 2 + 1, 2)", InferInverse, LowerInverse,
        {Case({Values(I16({3, 2}), {-3034, 0, 11995, -10884, -5462, 0})}, Length(4),
              {Values(I16({4}), {3873, 6049, -8121, -4835})}),
         Case({Values(I16({1, 5, 2}), {-3557, 0, 660, 1356, 8256, -12103, 2385, -3076, -3553, 0})},
              Length(8),
              {Values(I16({1, 8}), {1936, 3025, -4061, -2416, 414, 3025, -1845, -3634})}),
         {.inputs = {I16({2, 17, 2})}, .attrs = Length(32), .input_min = -8000, .input_max = 8000},
         {.inputs = {I32({9, 2})}, .attrs = Length(16), .input_min = -80000, .input_max = 80000},
         {.inputs = {F32({2, 9, 2})}, .attrs = Length(16)}}),
};
KILN_REGISTER_OPS(kTransforms);

}  // namespace
}  // namespace kiln
