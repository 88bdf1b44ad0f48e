// SPDX-License-Identifier: Apache-2.0
// Helpers of the operators on quantized tensors (qnn.*). A quantized number q stands for
// scale * (q - zero_point). Scales and zero points are operands: scales are float32 or float64 and
// above 0, zero points are int32. Each has one element, or one per place of an axis.
//
// A requantization multiplies sums of products by a quotient of scales and rounds. The attribute
// `rounding` names the arithmetic:
//
//   UPWARD     fixed point of 31 bits, halves up
//   TONEAREST  the same, halves away from zero
//   TFLITE     as TFLite's reference kernels: fixed point that rounds twice, or, for int64 sums,
//              with a multiplier of 15 bits
//   EVEN       in float32 (or compute_dtype), halves to the even neighbor, as ONNX
#ifndef KILN_COMPILER_OPS_QUANTIZED_H_
#define KILN_COMPILER_OPS_QUANTIZED_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {

// The inputs of an operator on one quantized tensor, in this order. Some have only the first three.
enum QuantizedUnaryOperand { kData, kScale, kZero, kOutScale, kOutZero };

// Constraint checks. Operand k must be
// - a scale: float32 or float64 with one element or `places` elements, and a constant if
//   kAtCompileTime; the elements of a constant are finite and above 0;
// - a zero point: int32 with one element or `places` elements; the magnitude of a constant is at
//   most 2^24, so that a float holds it.
enum class Known { kAtCompileTime, kPerhapsLater };
absl::Status CheckScale(const InferContext& c, size_t k, int64_t places, Known known,
                        int constraint);
absl::Status CheckZeroPoint(const InferContext& c, size_t k, int64_t places, int constraint);
// Checks that the scale and the zero point of the result, operands k and k + 1, are the constants
// 1 / inverse_scale and `zero_point`.
absl::Status CheckResultIs(const InferContext& c, size_t k, int inverse_scale, int64_t zero_point,
                           int constraint);
// Checks a quotient of scales for fixed-point multiplication: it must be finite and below 2^30.
absl::Status CheckFactor(double factor, int constraint);
// Checks that the dtype is an integer type of up to 32 bits, as quantized tensors have.
absl::Status CheckQuantized(DType dtype, int constraint);

// The elements of a constant operand as numbers; empty if it is not a constant.
std::vector<double> OperandValues(const StageBuilder& b, int k);
// Access to operand k by a place of its axis. An operand of one element gives that for all places.
// The dtype is the one in memory.
std::function<Expr(const Expr& place)> OperandAt(const StageBuilder& b, int k);
// True if operand k is a constant that is 0 everywhere.
bool IsZero(const StageBuilder& b, int k);

enum class Rounding { kUpward, kToNearest, kTflite, kEven };
// The value of the attribute `rounding`; "None" is UPWARD. An unknown name violates `constraint`.
absl::StatusOr<Rounding> RoundingOf(const Attrs& attrs, int constraint);
AttrSchema RoundingAttr(std::string otherwise = "None");
// The value of the attribute compute_dtype: float32, float64 or int64 ("None"). Rescale replaces
// int64 by float32 for EVEN. An unknown name violates `constraint`.
absl::StatusOr<DType> ComputeDTypeOf(const Attrs& attrs, int constraint);

// Multiplies by constant factors, one or one per place of an axis, and rounds.
class Rescale {
 public:
  // `sums` is the dtype of the numbers to multiply. `compute` is int64 for fixed point, or a float.
  // EVEN replaces int64 by float32, and TFLITE always uses fixed point.
  Rescale(StageBuilder& b, const std::string& name, const std::vector<double>& factors,
          Rounding rounding, DType sums, DType compute);

  // Returns x * factor, rounded. It is int32 if TFLITE multiplies int32 sums, a float if the
  // arithmetic is in floats, else int64. An int32 result of magnitude 2^29 or more may be another
  // number of that size and sign, which saturates to the same 16-bit number.
  Expr operator()(const Expr& x, const Expr& place) const;

 private:
  Expr TfliteOf(const Expr& x, const Expr& place) const;
  Expr Tflite16Of(const Expr& x, const Expr& place) const;
  Expr FixedPointOf(const Expr& x, const Expr& place) const;
  Expr FloatOf(const Expr& x, const Expr& place) const;

  Rounding rounding_;
  DType compute_;
  bool wide_;                 // the sums are int64
  std::optional<int> shift_;  // set if all places have the same shift
  bool shifts_left_ = false;  // some place has a shift above 0
  Access multiplier_, left_, right_, factor_;
};

// value + zero_point, saturated to `dtype`. `value` is a result of Rescale.
Expr Saturate(const Expr& value, const Expr& zero_point, DType dtype);
// round(value) + zero_point, saturated, for a float. Halves go to even or away from zero.
Expr QuantizeFloat(const Expr& value, const Expr& zero_point, bool to_even, DType dtype);

// x - zero_point, as `dtype`. A constant zero point of 0 is not subtracted.
Access Centred(const StageBuilder& b, Access x, int zero_point, DType dtype);

// Constant operands, for examples.
inline TensorType ScaleType() { return {{}, DType::Float(32)}; }
Tensor Scale(double value);
Tensor Scales(const std::vector<double>& values);
Tensor ZeroPoint(int64_t value);
// `data`, followed by a scale and a zero point for each of its tensors and for the result.
std::vector<TensorType> WithScales(std::vector<TensorType> data);
// An example of random 6-bit numbers. `operands` are the values of the inputs, empty for data.
OpExample QuantizedExample(TensorType data, std::vector<Tensor> operands, Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_H_
