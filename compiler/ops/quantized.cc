// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"

namespace kiln {
namespace {

constexpr int64_t kMaxZeroPoint = 1 << 24;
constexpr double kMaxFactor = 0x1p30;

Expr Int64(int64_t value) { return loop::IntConst(loop::Type::Of(kI64), value); }

// A table of int32 or of floats, with one element if all values are equal.
Tensor QuantizedTable(std::vector<double> values, DType dtype) {
  if (std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; })) {
    values.resize(1);
  }
  return Values({{static_cast<int64_t>(values.size())}, dtype}, values);
}

// Checks that there is one element, which serves all places, or one per place.
absl::Status CheckPlaces(const TensorType& type, int64_t places, const char* what, int constraint) {
  const bool one = type.num_elements() == 1;
  KILN_CONSTRAINT(constraint, one || (type.rank() == 1 && type.shape[0] == places),
                  absl::StrCat(what, " of shape ", ShapeToString(type.shape)),
                  absl::StrCat("one element, or ", places));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckScale(const InferContext& c, size_t k, int64_t places, Known known,
                        int constraint) {
  const TensorType& type = c.inputs[k];
  KILN_CONSTRAINT(constraint, type.dtype == DType::Float(32) || type.dtype == DType::Float(64),
                  absl::StrCat("a scale of ", type.dtype.ToString()), "float32 or float64");
  KILN_RETURN_IF_ERROR(CheckPlaces(type, places, "a scale", constraint));
  const Tensor* constant = c.constants[k];
  KILN_CONSTRAINT(constraint, constant != nullptr || known == Known::kPerhapsLater,
                  "a scale that is computed", "a constant");
  if (constant == nullptr) return absl::OkStatus();
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double scale = constant->AsDouble(i);
    KILN_CONSTRAINT(constraint, scale > 0 && std::isfinite(scale),
                    absl::StrCat("the scale ", scale), "a number above 0");
  }
  return absl::OkStatus();
}

absl::Status CheckZeroPoint(const InferContext& c, size_t k, int64_t places, int constraint) {
  const TensorType& type = c.inputs[k];
  KILN_CONSTRAINT(constraint, type.dtype == kI32,
                  absl::StrCat("a zero point of ", type.dtype.ToString()), "int32");
  KILN_RETURN_IF_ERROR(CheckPlaces(type, places, "a zero point", constraint));
  if (c.constants[k] == nullptr) return absl::OkStatus();
  for (const int64_t zero : c.constants[k]->ToInts()) {
    KILN_CONSTRAINT(constraint, std::abs(zero) <= kMaxZeroPoint, absl::StrCat("zero point ", zero),
                    absl::StrCat("from ", -kMaxZeroPoint, " to ", kMaxZeroPoint));
  }
  return absl::OkStatus();
}

absl::Status CheckResultIs(const InferContext& c, size_t k, int inverse_scale, int64_t zero_point,
                           int constraint) {
  KILN_RETURN_IF_ERROR(CheckScale(c, k, 1, Known::kAtCompileTime, constraint));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k + 1, 1, constraint));
  const double scale = c.constants[k]->AsDouble(0);
  KILN_CONSTRAINT(constraint, scale == 1.0 / inverse_scale, absl::StrCat("output_scale ", scale),
                  absl::StrCat("1/", inverse_scale));
  const Tensor* zero = c.constants[k + 1];
  KILN_CONSTRAINT(constraint, zero != nullptr && zero->AsInt(0) == zero_point,
                  "another output_zero_point", absl::StrCat("the constant ", zero_point));
  return absl::OkStatus();
}

absl::Status CheckFactor(double factor, int constraint) {
  KILN_CONSTRAINT(constraint, factor < kMaxFactor, absl::StrCat("the quotient ", factor),
                  absl::StrCat("less than ", kMaxFactor));
  return absl::OkStatus();
}

absl::Status CheckQuantized(DType dtype, int constraint) {
  KILN_CONSTRAINT(constraint, dtype.is_integral() && !dtype.is_bool() && dtype.bits <= 32,
                  dtype.ToString(), "integers of up to 32 bits");
  return absl::OkStatus();
}

std::vector<double> OperandValues(const StageBuilder& b, int k) {
  std::vector<double> values;
  const Tensor* constant = b.constant(k);
  if (constant == nullptr) return values;
  for (int64_t i = 0; i < constant->type().num_elements(); ++i) {
    values.push_back(constant->AsDouble(i));
  }
  return values;
}

std::function<Expr(const Expr&)> OperandAt(const StageBuilder& b, int k) {
  const Shape& shape = b.input_shape(k);
  const bool one = NumElements(shape) == 1;
  return [x = b.Input(k), one, rank = shape.size()](const Expr& place) {
    return x(one ? Indices(rank, Expr(0)) : Indices{place});
  };
}

bool IsZero(const StageBuilder& b, int k) {
  const std::vector<double> values = OperandValues(b, k);
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

absl::StatusOr<Rounding> RoundingOf(const Attrs& attrs, int constraint) {
  const std::string& name = attrs.String("rounding");
  if (name == "UPWARD" || name == "None") return Rounding::kUpward;
  if (name == "TONEAREST") return Rounding::kToNearest;
  if (name == "TFLITE") return Rounding::kTflite;
  if (name == "EVEN") return Rounding::kEven;
  return Violation(constraint, absl::StrCat("rounding ", name),
                   "UPWARD, TONEAREST, TFLITE or EVEN");
}

AttrSchema RoundingAttr(std::string otherwise) {
  return {"rounding", AttrType::kString, std::move(otherwise), false,
          "UPWARD (also \"None\"): fixed point, halves up; TONEAREST: halves away from zero; "
          "TFLITE: as in TFLite's reference kernels; EVEN: in floats, halves to even, as in ONNX"};
}

absl::StatusOr<DType> ComputeDTypeOf(const Attrs& attrs, int constraint) {
  const std::string& name = attrs.String("compute_dtype");
  if (name == "None" || name == "int64") return kI64;
  if (name == "float32") return DType::Float(32);
  if (name == "float64") return DType::Float(64);
  return Violation(constraint, absl::StrCat("compute_dtype ", name), "int64, float32 or float64");
}

Rescale::Rescale(StageBuilder& b, const std::string& name, const std::vector<double>& factors,
                 Rounding rounding, DType sums, DType compute)
    : rounding_(rounding), compute_(compute), wide_(sums == kI64) {
  if (rounding == Rounding::kEven && !compute_.is_float()) compute_ = DType::Float(32);
  if (rounding == Rounding::kTflite) compute_ = kI64;
  if (compute_.is_float()) {
    factor_ = b.Table(name + "_factor", QuantizedTable(factors, compute_));
    return;
  }
  std::vector<double> multipliers, shifts, left, right;
  for (double factor : factors) {
    const FixedPointFactor f = ToFixedPoint(factor);
    multipliers.push_back(f.multiplier);
    shifts.push_back(f.shift);
    left.push_back(std::max(f.shift, 0));
    right.push_back(std::max(-f.shift, 0));
    shifts_left_ = shifts_left_ || f.shift > 0;
  }
  if (rounding == Rounding::kTflite && wide_) {
    // The multiplier is rounded to 15 bits.
    for (double& m : multipliers) m = m < 0x7fff0000 ? std::floor((m + 0x8000) / 0x10000) : 0x7fff;
  }
  if (std::all_of(shifts.begin(), shifts.end(), [&](double s) { return s == shifts[0]; })) {
    shift_ = static_cast<int>(shifts[0]);
  }
  multiplier_ = b.Table(name + "_multiplier", QuantizedTable(multipliers, kI32));
  left_ = b.Table(name + "_left", QuantizedTable(left, kI32));
  right_ = b.Table(name + "_right", QuantizedTable(right, kI32));
}

Expr Rescale::operator()(const Expr& x, const Expr& place) const {
  if (compute_.is_float()) return FloatOf(x, place);
  if (rounding_ != Rounding::kTflite) return FixedPointOf(x, place);
  return wide_ ? Tflite16Of(x, place) : TfliteOf(x, place);
}

Expr Rescale::TfliteOf(const Expr& x, const Expr& place) const {
  Expr value = loop::MakeCast(kI32, x);
  if (shifts_left_) {
    value = ShiftLeftWithinBounds(value, shift_.has_value() ? I32Const(*shift_) : left_({place}));
  }
  value = MultiplyHigh(value, multiplier_({place}));
  return shift_.has_value() ? DivideByPowerOfTwo(value, std::max(-*shift_, 0))
                            : DivideByPowerOfTwo(value, right_({place}));
}

Expr Rescale::Tflite16Of(const Expr& x, const Expr& place) const {
  const auto wide = [](const Expr& e) { return loop::MakeCast(kI64, e); };
  const Expr shift = Int64(15) - wide(left_({place})) + wide(right_({place}));
  const Expr half = Shl(Int64(1), shift - Int64(1));
  const Expr product = wide(x) * wide(multiplier_({place}));
  return Shr(product + half, shift);
}

// x * multiplier / 2^(31 - shift) in 64 bits, for |x| below 2^31.
Expr Rescale::FixedPointOf(const Expr& x, const Expr& place) const {
  const auto wide = [](const Expr& e) { return loop::MakeCast(kI64, e); };
  const Expr shift = Int64(31) - wide(left_({place})) + wide(right_({place}));
  const Expr half = Shl(Int64(1), shift - Int64(1));
  Expr product = wide(x) * wide(multiplier_({place}));
  // Halves of negative numbers are rounded down.
  if (rounding_ == Rounding::kToNearest) product = product + Shr(product, Int64(63));
  return Shr(product + half, shift);
}

Expr Rescale::FloatOf(const Expr& x, const Expr& place) const {
  const Expr value = loop::MakeCast(compute_, x) * factor_({place});
  switch (rounding_) {
    case Rounding::kUpward:
      return loop::Floor(value + loop::Const(compute_, 0.5));
    case Rounding::kToNearest:
      return loop::RoundAway(value);
    default:
      return loop::RoundEven(value);
  }
}

Expr Saturate(const Expr& value, const Expr& zero_point, DType dtype) {
  const loop::Type type = value.type();
  if (type.dtype.is_float()) {
    // The bounds exclude the zero point, so that the zero point is added to an integer.
    const Expr zero = loop::MakeCast(type.dtype, zero_point);
    const Expr low = loop::Const(type, static_cast<double>(dtype.MinInt())) - zero;
    const Expr high = loop::Const(type, static_cast<double>(dtype.MaxInt())) - zero;
    const Expr clamped = Max(Min(value, high), low);
    if (dtype.bits < 32) {
      const Expr whole = loop::MakeCast(kI32, clamped);
      return loop::MakeCast(dtype, whole + loop::MakeCast(kI32, zero_point));
    }
    // Floats do not hold these bounds exactly; int64 saturates again.
    return Saturate(loop::MakeCast(kI64, clamped), zero_point, dtype);
  }
  const Expr sum = value + loop::MakeCast(type.dtype, zero_point);
  if (dtype.bits >= type.dtype.bits) return loop::MakeCast(dtype, sum);
  return loop::MakeCast(dtype, Max(Min(sum, loop::IntConst(type, dtype.MaxInt())),
                                   loop::IntConst(type, dtype.MinInt())));
}

Expr QuantizeFloat(const Expr& value, const Expr& zero_point, bool to_even, DType dtype) {
  return Saturate(to_even ? loop::RoundEven(value) : loop::RoundAway(value), zero_point, dtype);
}

Access Centred(const StageBuilder& b, Access x, int zero_point, DType dtype) {
  const bool is_zero = IsZero(b, zero_point);
  const std::function<Expr(const Expr&)> zero = OperandAt(b, zero_point);
  return [=](const Indices& i) {
    const Expr value = loop::MakeCast(dtype, x(i));
    return is_zero ? value : value - loop::MakeCast(dtype, zero(Expr(0)));
  };
}

Tensor Scale(double value) { return Values(ScaleType(), {value}); }
Tensor Scales(const std::vector<double>& values) {
  return Values(F32({static_cast<int64_t>(values.size())}), values);
}
Tensor ZeroPoint(int64_t value) { return Values(I32({}), {static_cast<double>(value)}); }

std::vector<TensorType> WithScales(std::vector<TensorType> data) {
  const size_t tensors = data.size() + 1;
  for (size_t i = 0; i < tensors; ++i) {
    data.push_back(ScaleType());
    data.push_back(I32({}));
  }
  return data;
}

OpExample QuantizedExample(TensorType data, std::vector<Tensor> operands, Attrs attrs) {
  return {.inputs = WithScales({std::move(data)}),
          .attrs = std::move(attrs),
          .values = std::move(operands),
          .input_min = -32,
          .input_max = 31};
}

}  // namespace kiln
