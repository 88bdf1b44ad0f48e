// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, and operators that read complex numbers. A complex tensor is two tensors, the
// real and imaginary parts: two outputs of the operator that computes it, and two inputs of its
// readers.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/fourier.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

using frontend::ComplexPart;
using tflite_schema::BuiltinOperator;

// Maximum number of elements of a matrix.
constexpr int64_t kMaxMatrix = int64_t{1} << 24;

struct Complex {
  ValueId real = kNoId, imaginary = kNoId;
};

// Transforms data [rows, n] along the last dimension to [rows, bins].
class Transform {
 public:
  Transform(Converter& c, int64_t bins, int64_t n) : c_(c), bins_(bins) {
    const auto matrix = [&](ComplexPart part) {
      const std::vector<double> values = frontend::FourierMatrix(bins, n, part);
      return c.Constant(Tensor::From<float>({bins, n}, DType::Float(32),
                                            std::vector<float>(values.begin(), values.end())));
    };
    matrix_ = {matrix(ComplexPart::kReal), matrix(ComplexPart::kImaginary)};
  }

  absl::StatusOr<Complex> OfReal(ValueId x) {
    Complex y;
    KILN_ASSIGN_OR_RETURN(y.real, Product(x, matrix_.real));
    KILN_ASSIGN_OR_RETURN(y.imaginary, Product(x, matrix_.imaginary));
    return y;
  }

  absl::StatusOr<Complex> OfComplex(Complex x) {
    KILN_ASSIGN_OR_RETURN(const Complex a, OfReal(x.real));
    KILN_ASSIGN_OR_RETURN(const Complex b, OfReal(x.imaginary));
    Complex y;
    KILN_ASSIGN_OR_RETURN(y.real, c_.Op("subtract", {a.real, b.imaginary}));
    KILN_ASSIGN_OR_RETURN(y.imaginary, c_.Op("add", {a.imaginary, b.real}));
    return y;
  }

 private:
  absl::StatusOr<ValueId> Product(ValueId x, ValueId matrix) {
    return c_.Op("nn.dense", {x, matrix}, {{"units", bins_}});
  }

  Converter& c_;
  const int64_t bins_;
  Complex matrix_;
};

// Crops or zero-pads x [rows, height, width] to the extents of the transform.
absl::StatusOr<ValueId> Fitted(Converter& c, ValueId x, int64_t height, int64_t width) {
  const Shape shape = c.type(x).shape;
  if (shape[1] > height || shape[2] > width) {
    KILN_ASSIGN_OR_RETURN(
        x, c.Op("strided_slice", {x},
                {{"begin", AttrValue::Ints({0, 0})},
                 {"end", AttrValue::Ints({std::min(shape[1], height), std::min(shape[2], width)})},
                 {"strides", AttrValue::Ints({1, 1})},
                 {"axes", AttrValue::Ints({1, 2})}}));
  }
  if (shape[1] >= height && shape[2] >= width) return x;
  const AttrValue widths(std::vector<AttrValue>{
      AttrValue::Ints({0, 0}), AttrValue::Ints({0, std::max<int64_t>(height - shape[1], 0)}),
      AttrValue::Ints({0, std::max<int64_t>(width - shape[2], 0)})});
  return c.Op("nn.pad", {x, c.Scalar(x, 0)}, {{"pad_width", widths}});
}

// Returns the extents of a transform, height and width. TFLite requires powers of two.
absl::StatusOr<std::vector<int64_t>> TransformExtents(const Converter& c) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> extents, c.IntsInput(1, "the extents"));
  if (extents.size() != 2) {
    return Wrong("the extents", absl::StrCat(extents.size(), " numbers"), "height and width");
  }
  for (int64_t extent : extents) {
    if (extent < 1 || !std::has_single_bit(static_cast<uint64_t>(extent))) {
      return Wrong("the extents", absl::StrCat(extents[0], ", ", extents[1]), "powers of two");
    }
    if (extent > kMaxMatrix / extent) {
      return absl::UnimplementedError(absl::StrCat(
          "a transform of ", extent, " samples; it is computed as a product with a matrix"));
    }
  }
  return extents;
}

absl::Status Rfft2d(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() < 2 || type.dtype != DType::Float(32)) {
    return Wrong("data", type.ToString(), "float32 of rank 2 or more");
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, TransformExtents(c));
  const int64_t height = extents[0], width = extents[1], bins = width / 2 + 1;
  Shape shape = type.shape;
  const size_t rank = shape.size();
  const int64_t rows = NumElements({shape.data(), rank - 2});
  KILN_ASSIGN_OR_RETURN(ValueId fitted, c.Reshape(x, {rows, shape[rank - 2], shape[rank - 1]}));
  KILN_ASSIGN_OR_RETURN(fitted, Fitted(c, fitted, height, width));
  KILN_ASSIGN_OR_RETURN(fitted, c.Reshape(fitted, {rows * height, width}));
  KILN_ASSIGN_OR_RETURN(Complex y, Transform(c, bins, width).OfReal(fitted));
  if (height > 1) {
    // The transform runs along rows, so columns are transposed for it.
    const auto turned = [&](ValueId part, const Shape& from,
                            const Shape& to) -> absl::StatusOr<ValueId> {
      KILN_ASSIGN_OR_RETURN(const ValueId blocks, c.Reshape(part, from));
      KILN_ASSIGN_OR_RETURN(const ValueId columns, c.Transpose(blocks, {0, 2, 1}));
      return c.Reshape(columns, to);
    };
    for (ValueId* part : {&y.real, &y.imaginary}) {
      KILN_ASSIGN_OR_RETURN(*part, turned(*part, {rows, height, bins}, {rows * bins, height}));
    }
    KILN_ASSIGN_OR_RETURN(y, Transform(c, height, height).OfComplex(y));
    for (ValueId* part : {&y.real, &y.imaginary}) {
      KILN_ASSIGN_OR_RETURN(*part, turned(*part, {rows, bins, height}, {rows * height, bins}));
    }
  }
  shape[rank - 2] = height;
  shape[rank - 1] = bins;
  KILN_ASSIGN_OR_RETURN(y.real, c.Reshape(y.real, shape));
  KILN_ASSIGN_OR_RETURN(y.imaginary, c.Reshape(y.imaginary, shape));
  c.SetOutput(0, y.real);
  c.SetOutput(1, y.imaginary);
  return absl::OkStatus();
}

absl::StatusOr<Complex> ComplexInput(const Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId real, c.Input(0));
  if (c.num_inputs() != 2) return Wrong("input 0", c.type(real).ToString(), "complex numbers");
  KILN_ASSIGN_OR_RETURN(const ValueId imaginary, c.Input(1));
  return Complex{real, imaginary};
}

absl::Status Real(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Complex x, ComplexInput(c));
  return c.Output(0, x.real);
}

absl::Status Imaginary(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Complex x, ComplexInput(c));
  return c.Output(0, x.imaginary);
}

absl::Status ComplexAbs(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Complex x, ComplexInput(c));
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Op("multiply", {x.real, x.real}));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Op("multiply", {x.imaginary, x.imaginary}));
  KILN_ASSIGN_OR_RETURN(const ValueId sum, c.Op("add", {a, b}));
  return c.Output(0, c.Op("sqrt", {sum}));
}

constexpr TfliteOperator kSpectrumRows[] = {
    {BuiltinOperator::COMPLEX_ABS, ComplexAbs},
    {BuiltinOperator::IMAG, Imaginary},
    {BuiltinOperator::REAL, Real},
    {BuiltinOperator::RFFT2D, Rfft2d},
};

}  // namespace

absl::Span<const TfliteOperator> SpectrumOperators() { return kSpectrumRows; }

}  // namespace kiln::tflite_frontend
