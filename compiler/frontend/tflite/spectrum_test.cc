// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of constants, which the importer computes, and operations on complex numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using Type = ModelBuilder::Type;
using Values = std::vector<double>;

absl::StatusOr<Graph> Import(const ModelBuilder& b) {
  return ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
}

std::string Error(const ModelBuilder& b) { return std::string(Import(b).status().message()); }

// Returns the values of all outputs in order.
Values Compute(const ModelBuilder& b) {
  const absl::StatusOr<Graph> graph = Import(b);
  EXPECT_TRUE(graph.ok()) << graph.status();
  Values values;
  if (!graph.ok()) return values;
  for (ValueId output : graph->outputs) {
    const Tensor& tensor = graph->value(output).constant;
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      values.push_back(tensor.AsDouble(i));
    }
  }
  return values;
}

int Rfft2d(ModelBuilder& b, int x, const std::vector<int>& extents) {
  return b.Op(BuiltinOperator::RFFT2D, {x, b.Ints(extents)}, "f", {}, Type::COMPLEX64);
}

// Adds the real parts and the imaginary parts as outputs.
void OutputParts(ModelBuilder& b, int complex) {
  b.Output(b.Op(BuiltinOperator::REAL, {complex}, "re", {}));
  b.Output(b.Op(BuiltinOperator::IMAG, {complex}, "im", {}));
}

Values PartsOf(const ModelBuilder::Shape& shape, const std::vector<float>& values,
               const std::vector<int>& extents) {
  ModelBuilder b;
  OutputParts(b, Rfft2d(b, b.Floats(shape, values), extents));
  return Compute(b);
}

TEST(Spectrum, OfARow) {
  EXPECT_THAT(PartsOf({1, 4}, {1, 2, 3, 5}, {1, 4}),
              Pointwise(DoubleNear(1e-6), Values{11, -2, -3, 0, 3, 0}));
}

TEST(Spectrum, OfOneSample) {
  EXPECT_THAT(PartsOf({2, 1, 1}, {3, -4}, {1, 1}), Pointwise(DoubleNear(0), Values{3, -4, 0, 0}));
}

TEST(Spectrum, OfAPlane) {
  // Rows 1 2 and 3 7 have the sums 3, 10 and the differences -1, -4.
  EXPECT_THAT(PartsOf({2, 2}, {1, 2, 3, 7}, {2, 2}),
              Pointwise(DoubleNear(1e-6), Values{13, -5, -7, 3, 0, 0, 0, 0}));
}

// Compared with the sums that define the transform, for two batches.
TEST(Spectrum, OfPlanesByDefinition) {
  constexpr int kBatches = 2, kHeight = 4, kWidth = 8, kBins = kWidth / 2 + 1;
  std::vector<float> x;
  for (int i = 0; i < kBatches * kHeight * kWidth; ++i) {
    x.push_back(static_cast<float>(i * i % 23 - 11));
  }
  Values real, imaginary;
  for (int n = 0; n < kBatches; ++n) {
    for (int u = 0; u < kHeight; ++u) {
      for (int v = 0; v < kBins; ++v) {
        double re = 0, im = 0;
        for (int i = 0; i < kHeight; ++i) {
          for (int j = 0; j < kWidth; ++j) {
            const double phase = -2 * M_PI * (u * i / double{kHeight} + v * j / double{kWidth});
            const double value = x[static_cast<size_t>((n * kHeight + i) * kWidth + j)];
            re += value * std::cos(phase);
            im += value * std::sin(phase);
          }
        }
        real.push_back(re);
        imaginary.push_back(im);
      }
    }
  }
  Values expected = real;
  expected.insert(expected.end(), imaginary.begin(), imaginary.end());
  EXPECT_THAT(PartsOf({kBatches, kHeight, kWidth}, x, {kHeight, kWidth}),
              Pointwise(DoubleNear(1e-4), expected));
}

TEST(Spectrum, DataAreCutOffAndPadded) {
  // 1 2 | 3 is cropped to 1 2, and a row of zeros is added after it.
  EXPECT_THAT(PartsOf({1, 3}, {1, 2, 3}, {2, 2}),
              Pointwise(DoubleNear(1e-6), Values{3, -1, 3, -1, 0, 0, 0, 0}));
  EXPECT_THAT(PartsOf({1, 2}, {1, 2}, {1, 4}),
              Pointwise(DoubleNear(1e-6), Values{3, 1, -1, 0, -2, 0}));
}

// Converters write a transform of rows this way. 1, -2 + 3i, -3 are replaced by their magnitudes.
TEST(Spectrum, ComplexNumbersAreMovedAndMeasured) {
  ModelBuilder b;
  schema::SqueezeOptionsT squeeze;
  squeeze.squeeze_dims = {-2};
  const int f = Rfft2d(b, b.Floats({1, 1, 4}, {1, 2, 3, 5}), {1, 4});
  const int row = b.Op(BuiltinOperator::SQUEEZE, {f}, "row", {}, squeeze, Type::COMPLEX64);
  const int some = b.Op(BuiltinOperator::SLICE, {row, b.Ints({0, 1}), b.Ints({1, 2})}, "some", {},
                        Type::COMPLEX64);
  const int column =
      b.Op(BuiltinOperator::RESHAPE, {some, b.Ints({2, 1})}, "column", {}, Type::COMPLEX64);
  b.Output(b.Op(BuiltinOperator::COMPLEX_ABS, {column}, "abs", {}));
  OutputParts(b, column);
  EXPECT_THAT(Compute(b), Pointwise(DoubleNear(1e-6), Values{std::sqrt(13.0), 3, -2, -3, 3, 0}));
}

TEST(Spectrum, PiecesOfComplexNumbersKeepTheirParts) {
  ModelBuilder b;
  const int f = Rfft2d(b, b.Floats({1, 4}, {1, 2, 3, 5}), {1, 4});
  schema::UnpackOptionsT unpack;
  unpack.axis = 1;
  unpack.num = 3;
  std::vector<int> pieces;
  for (const char* name : {"a", "b", "c"}) pieces.push_back(b.Add(name, {1}, Type::COMPLEX64));
  b.AddOperator(BuiltinOperator::UNPACK, {f}, pieces, unpack);
  for (int piece : pieces) OutputParts(b, piece);
  EXPECT_THAT(Compute(b), Pointwise(DoubleNear(1e-6), Values{11, 0, -2, 3, -3, 0}));
}

TEST(Spectrum, SaysWhatIsWrongWithTheExtents) {
  const auto error = [](const std::vector<int>& extents) {
    ModelBuilder b;
    OutputParts(b, Rfft2d(b, b.Input("x", {1, 4}), extents));
    return Error(b);
  };
  EXPECT_EQ(error({1, 6}),
            "m.tflite: node 'f' (RFFT2D): the extents: found 1, 6, wanted powers of two");
  EXPECT_THAT(error({4}), HasSubstr("the extents: found 1 numbers, wanted height and width"));
  EXPECT_THAT(error({0, 4}), HasSubstr("the extents: found 0, 4, wanted powers of two"));
  EXPECT_THAT(error({1, 1 << 13}), HasSubstr("a transform of 8192 samples"));
  EXPECT_THAT(error({1 << 30, 1}), HasSubstr("a transform of 1073741824 samples"));
}

TEST(Spectrum, DataAreFloats) {
  ModelBuilder b;
  OutputParts(b, Rfft2d(b, b.Input("x", {4}), {1, 4}));
  EXPECT_THAT(Error(b), HasSubstr("data: found Tensor[(4,), float32], wanted float32 of rank 2"));
}

TEST(Spectrum, ComplexNumbersAreNoInputsOrOutputs) {
  ModelBuilder out;
  out.Output(Rfft2d(out, out.Input("x", {1, 4}), {1, 4}));
  EXPECT_EQ(Error(out),
            "m.tflite: output: tensor 'f' holds complex numbers; take them apart by REAL and IMAG");
  ModelBuilder in;
  OutputParts(in, in.Input("x", {1, 4}, Type::COMPLEX64));
  EXPECT_THAT(Error(in), HasSubstr("m.tflite: input 'x': "));
}

TEST(Spectrum, OtherOperatorsOnComplexNumbersAreToldAtOnce) {
  ModelBuilder b;
  const int f = Rfft2d(b, b.Input("x", {1, 4}), {1, 4});
  const int g = b.Op(BuiltinOperator::MUL, {f, f}, "g", {}, Type::COMPLEX64);
  OutputParts(b, b.Op(BuiltinOperator::ADD, {g, f}, "h", {}, Type::COMPLEX64));
  EXPECT_THAT(Error(b), HasSubstr("operator ADD is not supported on complex numbers"));
  EXPECT_THAT(Error(b), HasSubstr("operator MUL is not supported on complex numbers"));
}

TEST(Spectrum, RealNumbersAreNotComplex) {
  ModelBuilder b;
  b.Output(b.Op(BuiltinOperator::REAL, {b.Input("x", {2})}, "re", {2}));
  EXPECT_THAT(Error(b), HasSubstr("(REAL): input 0: found Tensor[(2,), float32], wanted complex"));
  ModelBuilder moved;
  const int x = moved.Input("x", {2});
  OutputParts(
      moved, moved.Op(BuiltinOperator::RESHAPE, {x, moved.Ints({2, 1})}, "y", {}, Type::COMPLEX64));
  EXPECT_THAT(Error(moved), HasSubstr("output 'y': found real numbers, wanted complex ones"));
  ModelBuilder plain;
  const int f = Rfft2d(plain, plain.Input("x", {1, 4}), {1, 4});
  plain.Output(plain.Op(BuiltinOperator::RESHAPE, {f, plain.Ints({3})}, "y", {}));
  EXPECT_THAT(Error(plain), HasSubstr("output 'y': found complex numbers, wanted float32"));
}

}  // namespace
}  // namespace kiln::tflite_frontend
