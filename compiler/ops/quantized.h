// SPDX-License-Identifier: Apache-2.0
// What the operators on quantized tensors (qnn.*) share. A quantized number q stands for
// scale * (q - zero_point). Scales are operands: constants, float32 or float64, above 0; zero
// points int32. Either has one element, or one for each place of an axis.
//
// A requantization multiplies sums of products by a quotient of scales and rounds. Its arithmetic
// has a name, the attribute `rounding`:
//
//   UPWARD     fixed point of 31 bits, halves up
//   TONEAREST  the same, halves away from zero
//   TFLITE     as TFLite's reference kernels: fixed point that rounds twice, or, of int64 sums,
//              with a multiplier of 15 bits
//   EVEN       in float32 (or compute_dtype), halves to the even neighbour, as ONNX
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

// Constraint checks. Operand k is
// - a scale: float32 or float64 with one element, or `places`; a constant, where that is asked for;
//   the elements of a constant are finite and above 0;
// - a zero point: int32 with one element, or `places`; a constant is not beyond 2^24, so that a
//   float holds it.
enum class Known { kAtCompileTime, kPerhapsLater };
absl::Status CheckScale(const InferContext& c, size_t k, int64_t places, Known known,
                        int constraint);
absl::Status CheckZeroPoint(const InferContext& c, size_t k, int64_t places, int constraint);
// The scale and zero point of the result, operands k and k + 1, are the constants
// 1 / inverse_scale and `zero_point`.
absl::Status CheckResultIs(const InferContext& c, size_t k, int inverse_scale, int64_t zero_point,
                           int constraint);
// A quotient of scales that fixed-point arithmetic multiplies by: finite and below 2^30.
absl::Status CheckFactor(double factor, int constraint);
// The integer types that quantized tensors have.
absl::Status CheckQuantized(DType dtype, int constraint);

// The elements of a constant operand as numbers; empty where it is no constant.
std::vector<double> OperandValues(const StageBuilder& b, int k);
// Operand k at a place of its axis; its only element if it has but one. As it is in memory.
std::function<Expr(const Expr& place)> OperandAt(const StageBuilder& b, int k);
// Whether operand k is a constant that is 0 everywhere.
bool IsZero(const StageBuilder& b, int k);

enum class Rounding { kUpward, kToNearest, kTflite, kEven };
// Of the attribute `rounding`; "None" is UPWARD. A violation of `constraint` where it has no such
// name.
absl::StatusOr<Rounding> RoundingOf(const Attrs& attrs, int constraint);
AttrSchema RoundingAttr(std::string otherwise = "None");
// Of the attribute compute_dtype: float32, float64 or int64 ("None": as the rounding has it).
absl::StatusOr<DType> ComputeDTypeOf(const Attrs& attrs, int constraint);

// Multiplication by constant factors, one or one per place of an axis, with rounding.
class Rescale {
 public:
  // `sums` is the dtype of what is multiplied; `compute` matters to EVEN and may be a float for
  // UPWARD and TONEAREST too.
  Rescale(StageBuilder& b, const std::string& name, const std::vector<double>& factors,
          Rounding rounding, DType sums, DType compute);

  // x * factor, rounded: int32 if TFLITE multiplies int32 sums, else int64, or float where
  // `compute` is one. An int32 whose magnitude would be 2^29 or more may be another
  // one of that size and sign, which is saturated alike in 16 bits.
  Expr operator()(const Expr& x, const Expr& place) const;

 private:
  Expr TfliteOf(const Expr& x, const Expr& place) const;
  Expr Tflite16Of(const Expr& x, const Expr& place) const;
  Expr FixedPointOf(const Expr& x, const Expr& place) const;
  Expr FloatOf(const Expr& x, const Expr& place) const;

  Rounding rounding_;
  DType compute_;
  bool wide_;                 // the sums are int64
  std::optional<int> shift_;  // where that of all places is one
  bool shifts_left_ = false;  // that of some place is above 0
  Access multiplier_, left_, right_, factor_;
};

// value + zero_point as the nearest number of `dtype`. `value` is what Rescale gives.
Expr Saturate(const Expr& value, const Expr& zero_point, DType dtype);
// round(value) of a float, by halves to even or away from zero, + zero_point, saturated.
Expr QuantizeFloat(const Expr& value, const Expr& zero_point, bool to_even, DType dtype);

// x - zero_point, as `dtype`; no subtraction of a zero that is constant.
Access Centred(const StageBuilder& b, Access x, int zero_point, DType dtype);

// For examples: constant operands.
inline TensorType ScaleType() { return {{}, DType::Float(32)}; }
Tensor Scale(double value);
Tensor Scales(const std::vector<double>& values);
Tensor ZeroPoint(int64_t value);
// `data`, and a scale and a zero point for each of them and for the result.
std::vector<TensorType> WithScales(std::vector<TensorType> data);
// An example of random numbers of 6 bits: `operands` are the values of the inputs, empty for data.
OpExample QuantizedExample(TensorType data, std::vector<Tensor> operands, Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_QUANTIZED_H_
