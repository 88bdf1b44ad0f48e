// SPDX-License-Identifier: Apache-2.0
// Functions of quantized numbers of 8 bits, as tables. Sigmoid and tanh take int16 as well.
#include <algorithm>
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/quantized.h"

namespace kiln {
namespace {

// Parameters of TFLite's kernels for sigmoid and tanh.
struct Saturating {
  Expr (*fixed_point)(const Expr&, int integer_bits);
  double out_scale;       // of an 8-bit result; that of a 16-bit result is 2^-15
  int out_fraction_bits;  // of an 8-bit result
  int index_bits;         // 16 bits: fraction bits of an index into the table
  double out_zero;        // zero point of an int8 result
};
constexpr Saturating kSigmoid = {FixedPointLogistic, 0x1p-8, 8, 9, -128};
constexpr Saturating kTanh = {FixedPointTanh, 0x1p-7, 7, 8, 0};

bool IsTflite(const Attrs& attrs) {
  return attrs.Has("rounding") && attrs.String("rounding") == "TFLITE";
}

absl::Status CheckTflite(const InferContext& c, const Saturating& f, DType dtype) {
  const double scale = c.constants[kOutScale]->AsDouble(0);
  const Tensor* zero = c.constants[kOutZero];
  KILN_CONSTRAINT(5, dtype.is_int(), dtype.ToString(), "int8 or int16");
  // For int16, x * scale must fit 32 bits in the scale of the table.
  const double in_scale = c.constants[kScale]->AsDouble(0);
  const double most = dtype.bits == 8 ? 0x1p30 : 65535.0 / (4096 * 3);
  KILN_CONSTRAINT(5, in_scale <= most, absl::StrCat("scale ", in_scale),
                  absl::StrCat("at most ", most));
  const double wanted = dtype.bits == 8 ? f.out_scale : 0x1p-15;
  KILN_CONSTRAINT(5, scale == wanted, absl::StrCat("output_scale ", scale), absl::StrCat(wanted));
  const double wanted_zero = dtype.bits == 8 ? f.out_zero : 0;
  KILN_CONSTRAINT(5, zero != nullptr && zero->AsDouble(0) == wanted_zero, "output_zero_point",
                  absl::StrCat("the constant ", wanted_zero));
  return absl::OkStatus();
}

template <const Saturating* kTflite>
InferResult InferQnnUnary(const InferContext& c) {
  const TensorType& data = c.inputs[kData];
  const bool tflite = IsTflite(c.attrs);
  KILN_CONSTRAINT(1,
                  (data.dtype.is_int() || data.dtype.is_uint()) &&
                      (data.dtype.bits == 8 || (tflite && data.dtype == DType::Int(16))),
                  data.dtype.ToString(), "integers of 8 bits; with TFLITE int16");
  for (size_t k : {kScale, kOutScale}) {
    KILN_RETURN_IF_ERROR(CheckScale(c, k, 1, Known::kAtCompileTime, 2));
  }
  for (size_t k : {kZero, kOutZero}) {
    KILN_RETURN_IF_ERROR(CheckZeroPoint(c, k, 1, 3));
    KILN_CONSTRAINT(3, c.constants[k] != nullptr, "a zero point that is computed", "a constant");
  }
  if constexpr (kTflite != nullptr) {
    const std::string& rounding = c.attrs.String("rounding");
    KILN_CONSTRAINT(4, tflite || rounding == "None", absl::StrCat("rounding ", rounding),
                    "None or TFLITE");
    if (tflite) KILN_RETURN_IF_ERROR(CheckTflite(c, *kTflite, data.dtype));
  }
  return OutputTypes({data});
}

// The value of an expression without variables.
int32_t EvaluateUnary(const Expr& e) {
  int64_t value = 0;
  const bool is_constant = loop::AsInt(e, &value);
  return is_constant ? static_cast<int32_t>(value) : 0;
}

// Lowers a function of 8-bit numbers to a table. `value` gives the result for a number q,
// which is an int32 constant.
void LowerTable(StageBuilder& b, const std::function<Expr(const Expr& q)>& value) {
  const DType dtype = b.input_dtype(kData);
  const int64_t lowest = dtype.MinInt();
  std::string bytes;
  for (int64_t q = lowest; q <= dtype.MaxInt(); ++q) {
    bytes.push_back(static_cast<char>(EvaluateUnary(value(I32Const(q)))));
  }
  const Access table = b.Table("table", Tensor({{256}, dtype}, std::move(bytes)));
  b.Output(0, [&, x = b.Input(kData)](const Indices& i) {
    return table({ClampIndex(loop::MakeCast(kI32, x(i)) - I32Const(lowest), 256)});
  });
}

// round(f(scale * (q - zero)) / out_scale) + out_zero in float32.
template <auto kFunction>
void LowerFloat(StageBuilder& b) {
  const auto scalar = [&](int k) { return loop::Const(kF32, OperandValues(b, k)[0]); };
  const Expr zero = I32Const(static_cast<int64_t>(OperandValues(b, kZero)[0]));
  const Expr out_zero = I32Const(static_cast<int64_t>(OperandValues(b, kOutZero)[0]));
  LowerTable(b, [&](const Expr& q) {
    const Expr x = loop::MakeCast(kF32, q - zero) * scalar(kScale);
    return QuantizeFloat(kFunction(x) / scalar(kOutScale), out_zero, /*to_even=*/false,
                         b.output_dtype(0));
  });
}

// Lowers a function of int8 in fixed point with four integer bits. Numbers beyond the range of
// these bits give the end of the function's range.
void LowerTflite8(StageBuilder& b, const Saturating& f) {
  constexpr int kIntegerBits = 4;
  const FixedPointFactor factor =
      ToFixedPoint(OperandValues(b, kScale)[0] * std::exp2(31 - kIntegerBits));
  const double radius = std::floor(((1 << kIntegerBits) - 1) * std::exp2(31 - kIntegerBits) *
                                   std::exp2(-factor.shift));
  const int64_t zero = static_cast<int64_t>(OperandValues(b, kZero)[0]);
  LowerTable(b, [&](const Expr& q) {
    const int64_t x = EvaluateUnary(q) - zero;
    if (static_cast<double>(x) <= -radius) return I32Const(-128);
    if (static_cast<double>(x) >= radius) return I32Const(127);
    const Expr scaled = DivideByPowerOfTwo(
        MultiplyHigh(I32Const(x << std::max(factor.shift, 0)), I32Const(factor.multiplier)),
        std::max(-factor.shift, 0));
    const Expr y =
        DivideByPowerOfTwo(f.fixed_point(scaled, kIntegerBits), 31 - f.out_fraction_bits);
    return Saturate(y, I32Const(static_cast<int64_t>(f.out_zero)), DType::Int(8));
  });
}

// The table 2^16 sigmoid(n / 24). Both functions of int16 are interpolated in it, as
// tanh(x) is 2 sigmoid(2x) - 1.
Tensor SigmoidTable() {
  // Entries of TFLite's table that are one above the nearest integer.
  constexpr int kAbove[] = {4,  8,  12, 14, 15, 16, 17, 19, 20,  21,  22,  25,  27,  28, 29,
                            30, 31, 33, 34, 35, 37, 39, 40, 41,  43,  44,  45,  46,  49, 50,
                            54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255};
  std::vector<int32_t> table;
  for (int n = 0; n < 256; ++n) {
    table.push_back(static_cast<int32_t>(std::round(65536 / (1 + std::exp(-n / 24.0)))));
  }
  for (int n : kAbove) ++table[static_cast<size_t>(n)];
  return Tensor::From<int32_t>({256}, kI32, table);
}

// The int32 factor and the right shift that bring a number to the scale of the table, 2^-12 / 3.
struct TableScale {
  int64_t multiplier;
  int shift;
};
TableScale ToTableScale(double scale, bool is_sigmoid) {
  // TFLite treats a scale near 2^-12, and for tanh near 2^-11, as that power. It compares in
  // float32.
  const float exponent = std::log(static_cast<float>(scale)) * (1.0F / std::log(2.0F));
  const float above = std::round(exponent) + 12;
  const bool is_power = std::abs(exponent - std::round(exponent)) < 1e-3F;
  if (is_power && (above == 0 || (above == 1 && !is_sigmoid))) return {above == 0 ? 3 : 6, 0};
  double multiplier = scale * 4096 * 3;
  int shift = 0;
  for (; multiplier <= 32767.0 / 2 && shift <= 30; ++shift) multiplier *= 2;
  return {static_cast<int64_t>(std::min(multiplier, 0x1p31 - 1)), shift};
}

void LowerTflite16(StageBuilder& b, const Saturating& f) {
  const Access table = b.Table("sigmoid", SigmoidTable());
  const bool is_sigmoid = f.index_bits == kSigmoid.index_bits;
  const TableScale scale = ToTableScale(OperandValues(b, kScale)[0], is_sigmoid);
  const int64_t half = scale.shift > 0 ? int64_t{1} << (scale.shift - 1) : 0;
  constexpr int64_t kLast = 254;  // last entry of the table that has a successor
  const int64_t largest = ((scale.multiplier << 15) + half) >> scale.shift >> f.index_bits;
  b.Output(0, [&, x = b.Input(kData)](const Indices& i) {
    const Expr scaled =
        Shr(loop::MakeCast(kI32, x(i)) * I32Const(scale.multiplier) + I32Const(half), scale.shift);
    const Expr magnitude = loop::Abs(scaled);
    const Expr place = Shr(magnitude, f.index_bits);
    const Expr fraction =
        loop::MakeBinary(loop::BinaryOp::kAnd, magnitude, I32Const((1 << f.index_bits) - 1));
    const Expr at = largest > kLast ? Min(place, I32Const(kLast)) : place;
    const Expr low = table({loop::ToIndex(at)});
    const Expr high = table({loop::ToIndex(at + I32Const(1))});
    Expr y = Shl(low, f.index_bits) + fraction * (high - low);
    if (largest > kLast) {
      const Expr end = I32Const(is_sigmoid ? 0x7fff << 10 : 0xffff << 8);
      y = loop::MakeSelect(place > I32Const(kLast), end, y);
    }
    // `turned` is y, or -y - 1 for negative numbers. The addends below compensate for that.
    const Expr sign = Shr(scaled, 31);
    const Expr turned = loop::MakeBinary(loop::BinaryOp::kXor, y, sign);
    const auto if_negative = [&](int32_t value) {
      return loop::MakeBinary(loop::BinaryOp::kAnd, sign, I32Const(value));
    };
    // The addends round; sums are below 2^31.
    if (is_sigmoid) return Shr(turned + I32Const(1 << 9) + if_negative(1 << 25), 10);
    return Shr(turned + I32Const((1 << 7) - (1 << 23)) + if_negative(1 << 24), 8);
  });
}

template <auto kFunction, const Saturating* kTflite>
absl::Status LowerQnnUnary(StageBuilder& b) {
  if constexpr (kTflite != nullptr) {
    if (IsTflite(b.attrs())) {
      if (b.input_dtype(kData).bits == 8) {
        LowerTflite8(b, *kTflite);
      } else {
        LowerTflite16(b, *kTflite);
      }
      return absl::OkStatus();
    }
  }
  LowerFloat<kFunction>(b);
  return absl::OkStatus();
}

// x * clip(x + 3, 0, 6) / 6
Expr HardSwish(Expr x) {
  const auto constant = [](double value) { return loop::Const(kF32, value); };
  return x * Max(Min(x + constant(3), constant(6)), constant(0)) / constant(6);
}

std::vector<Tensor> UnaryOperands(Tensor data, double scale, int64_t zero, double out_scale,
                                  int64_t out_zero) {
  return {std::move(data), Scale(scale), ZeroPoint(zero), Scale(out_scale), ZeroPoint(out_zero)};
}

OpExample RandomUnary(TensorType data, std::vector<Tensor> operands, Attrs attrs = {}) {
  const bool wide = data.dtype.bits == 16;
  return {.inputs = WithScales({std::move(data)}),
          .attrs = std::move(attrs),
          .values = std::move(operands),
          .input_min = wide ? -8000.0 : -32.0,
          .input_max = wide ? 8000.0 : 31.0};
}

OpDef UnaryOp(std::string name, std::string doc, InferResult (*infer)(const InferContext&),
              absl::Status (*lower)(StageBuilder&), bool tflite, std::vector<OpExample> examples) {
  OpDef op = {
      {.name = std::move(name),
       .doc = std::move(doc) + " of quantized numbers: output_zero_point + round(f(x) / "
                               "output_scale), where x is the number that the input stands for. "
                               "The results are in a table that is computed in float32.",
       .inputs = {{"x", "quantized numbers"},
                  {"scale", "a constant"},
                  {"zero_point", "a constant"},
                  {"output_scale", "a constant"},
                  {"output_zero_point", "a constant"}}},
      {"x holds integers of 8 bits", "scales are constants of one element above 0",
       "zero points are int32 constants of one element"},
      {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
      infer,
      lower,
      std::move(examples)};
  if (!tflite) return op;
  op.doc +=
      " With rounding TFLITE, the results are computed as in TFLite's reference kernels: in fixed "
      "point, and for int16 by a table and interpolation.";
  op.constraints[0] += ", or int16 with TFLITE";
  op.constraints.push_back("rounding is \"None\" or \"TFLITE\"");
  op.constraints.push_back(
      "TFLITE requires int8 or int16, and an output with the scale and zero point that TFLite uses "
      "for this function");
  op.attrs.push_back({"rounding", AttrType::kString, "None", false, "None or TFLITE"});
  return op;
}

template <auto kFunction>
OpDef Table(std::string name, std::string doc, std::vector<OpExample> examples) {
  examples.push_back(RandomUnary(U8({3, 7}), UnaryOperands(Tensor(), 0.02, 0, 0.03, 1)));
  return UnaryOp(std::move(name), std::move(doc), InferQnnUnary<nullptr>,
                 LowerQnnUnary<kFunction, nullptr>, false, std::move(examples));
}

OpExample UnaryExample(const std::vector<double>& at, double scale, int64_t zero, double out_scale,
                       int64_t out_zero, const std::vector<double>& expected) {
  const TensorType type = I8({static_cast<int64_t>(at.size())});
  return Case(UnaryOperands(Values(type, at), scale, zero, out_scale, out_zero), {},
              {Values(type, expected)});
}

const Attrs kLikeTflite = {{"rounding", "TFLITE"}};

const OpDef kUnary[] = {
    Table<loop::Exp>("qnn.exp", "exp(x)",
                     {UnaryExample({0, 1, 2}, 0.5, 0, 0.1, -20, {-10, -4, 7})}),
    Table<loop::Log>("qnn.log", "The natural logarithm",
                     {UnaryExample({1, 2, 100}, 0.5, 0, 0.1, 0, {-7, 0, 39})}),
    Table<loop::Sqrt>("qnn.sqrt", "The square root",
                      {UnaryExample({0, 4, 100}, 0.25, 0, 0.5, -3, {-3, -1, 7})}),
    Table<loop::Rsqrt>("qnn.rsqrt", "1 / sqrt(x)",
                       {UnaryExample({4, 16, 64}, 0.25, 0, 0.25, 0, {4, 2, 1})}),
    Table<loop::Erf>("qnn.erf", "The error function",
                     {UnaryExample({-127, 0, 1}, 0.5, 0, 1.0 / 128, 0, {-128, 0, 67})}),
    Table<HardSwish>("qnn.hardswish", "x * clip(x + 3, 0, 6) / 6",
                     {UnaryExample({-12, -4, 0, 4, 16}, 0.25, 0, 0.25, 1, {1, 0, 1, 4, 17})}),
    UnaryOp(
        "qnn.sigmoid", "1 / (1 + exp(-x))", InferQnnUnary<&kSigmoid>,
        LowerQnnUnary<loop::Sigmoid, &kSigmoid>, true,
        {UnaryExample({-100, 0, 4, 100}, 0.25, 0, 0x1p-8, -128, {-128, 0, 59, 127}),
         Case(UnaryOperands(Values(I8({4}), {-100, 0, 4, 100}), 0.25, 0, 0x1p-8, -128), kLikeTflite,
              {Values(I8({4}), {-128, 0, 59, 127})}),
         // sigmoid(1) * 2^15 is 23955.3, and the table is half a step above it.
         // sigmoid(0.875) * 2^15 is 23127.2, where the table is one above the nearest integer.
         Case(UnaryOperands(Values({{4}, kI16}, {0, 4096, -4096, 3584}), 0x1p-12, 0, 0x1p-15, 0),
              kLikeTflite, {Values({{4}, kI16}, {16384, 23956, 8812, 23128})}),
         // A scale near 2^-12, which counts as that, and one near 2^-11, which does not.
         Case(UnaryOperands(Values({{4}, kI16}, {-9000, -1001, 777, 5003}), 0x1.0016b8p-12, 0,
                            0x1p-15, 0),
              kLikeTflite, {Values({{4}, kI16}, {3277, 14392, 17933, 25307})}),
         Case(UnaryOperands(Values({{4}, kI16}, {-9000, -1001, 777, 5003}), 0x1.ffc98p-12, 0,
                            0x1p-15, 0),
              kLikeTflite, {Values({{4}, kI16}, {401, 12460, 19454, 30145})}),
         RandomUnary({{3, 7}, kI16}, UnaryOperands(Tensor(), 0.0003, 0, 0x1p-15, 0), kLikeTflite),
         RandomUnary(I8({3, 7}), UnaryOperands(Tensor(), 0.03, 5, 0x1p-8, -128), kLikeTflite)}),
    UnaryOp(
        "qnn.tanh", "The hyperbolic tangent", InferQnnUnary<&kTanh>,
        LowerQnnUnary<loop::Tanh, &kTanh>, true,
        {UnaryExample({-100, 0, 2, 100}, 0.25, 0, 0x1p-7, 0, {-128, 0, 59, 127}),
         Case(UnaryOperands(Values(I8({4}), {-100, 0, 2, 100}), 0.25, 0, 0x1p-7, 0), kLikeTflite,
              {Values(I8({4}), {-128, 0, 59, 127})}),
         Case(UnaryOperands(Values({{4}, kI16}, {-9000, -1001, 777, 5003}), 0x1.0016b8p-12, 0,
                            0x1p-15, 0),
              kLikeTflite, {Values({{4}, kI16}, {-31968, -7852, 6142, 27527})}),
         Case(UnaryOperands(Values({{4}, kI16}, {-9000, -1001, 777, 5003}), 0x1.ffc98p-12, 0,
                            0x1p-15, 0),
              kLikeTflite, {Values({{4}, kI16}, {-32758, -14851, 11868, 32276})}),
         RandomUnary({{3, 7}, kI16}, UnaryOperands(Tensor(), 0x1p-12, 0, 0x1p-15, 0), kLikeTflite),
         RandomUnary(I8({3, 7}), UnaryOperands(Tensor(), 0.03, 5, 0x1p-7, 0), kLikeTflite)}),
};
KILN_REGISTER_OPS(kUnary);

}  // namespace
}  // namespace kiln
