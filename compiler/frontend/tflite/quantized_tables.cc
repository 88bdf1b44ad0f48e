// SPDX-License-Identifier: Apache-2.0
// Functions of 8-bit numbers as tables. The elements are the results of TFLite's kernels for every
// number.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"
#include "compiler/ops/fixed_point.h"

namespace kiln::tflite_frontend {
namespace {

constexpr int64_t kMax16 = std::numeric_limits<int16_t>::max();
constexpr int64_t kMin16 = std::numeric_limits<int16_t>::min();
constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();

struct TableScales {
  Quantization in, out;
};
absl::StatusOr<TableScales> ReadScales(const Converter& c) {
  TableScales scales;
  KILN_ASSIGN_OR_RETURN(scales.in, QuantizationOfInput(c, 0));
  KILN_ASSIGN_OR_RETURN(scales.out, QuantizationOfOutput(c, 0));
  return scales;
}

// Returns value(q), saturated, for every q of x, which has 8 bits.
absl::StatusOr<ValueId> TableOf(Converter& c, ValueId x,
                                const std::function<int64_t(int64_t q)>& value) {
  const DType dtype = c.type(x).dtype;
  std::string bytes;
  for (int64_t q = dtype.MinInt(); q <= dtype.MaxInt(); ++q) {
    bytes.push_back(static_cast<char>(std::clamp(value(q), dtype.MinInt(), dtype.MaxInt())));
  }
  const ValueId table = c.Constant(Tensor({{256}, dtype}, std::move(bytes)));
  KILN_ASSIGN_OR_RETURN(ValueId at, c.Op("cast", {x}, {{"dtype", "int32"}}));
  if (dtype.is_int()) {
    KILN_ASSIGN_OR_RETURN(at, c.Op("subtract", {at, c.Scalar(at, -128)}));
  }
  return c.Op("take", {table, at}, {{"axis", 0}, {"mode", "clip"}});
}

// Sets output 0 to value(q), saturated, for every q of input 0.
absl::Status SetTable(Converter& c, const std::function<int64_t(int64_t q)>& value) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, TableOf(c, x, value));
}

// Like SetTable, for a function of real numbers. Computed in float32, like TFLite's tables.
absl::Status SetFloatTable(Converter& c, const TableScales& s,
                           const std::function<float(float)>& f) {
  const float inverse = 1 / s.out.scales[0];
  return SetTable(c, [&](int64_t q) {
    const float x = s.in.scales[0] * static_cast<float>(q - s.in.zero_points[0]);
    const float rounded = std::round(f(x) * inverse);
    return static_cast<int64_t>(
        std::clamp(rounded + static_cast<float>(s.out.zero_points[0]), -1024.F, 1024.F));
  });
}

float ExpOf(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }

absl::Status CheckOutput(const TableScales& s, float scale, int32_t zero_point) {
  if (s.out.scales[0] == scale && s.out.zero_points[0] == zero_point) return absl::OkStatus();
  return Wrong("the output's scale and zero point",
               absl::StrCat(s.out.scales[0], ", ", s.out.zero_points[0]),
               absl::StrCat(scale, ", ", zero_point));
}

// The high half of 2ab for numbers of `bits` bits, rounded to nearest, halves up.
int64_t MultiplyHighBits(int64_t a, int64_t b, int bits) {
  const int64_t lowest = -(int64_t{1} << (bits - 1));
  if (a == lowest && b == lowest) return -lowest - 1;
  const int64_t product = a * b, half = int64_t{1} << (bits - 2);
  return (product + (product >= 0 ? half : 1 - half)) / (int64_t{1} << (bits - 1));
}

// x / 2^exponent, rounded to nearest, halves away from zero.
int64_t Divided(int64_t x, int exponent) {
  if (exponent == 0) return x;
  const int64_t half = int64_t{1} << (exponent - 1);
  return x >= 0 ? (x + half) >> exponent : -((-x + half) >> exponent);
}

int64_t ShiftedLeft16(int64_t x, int by) {
  return std::clamp(x * (int64_t{1} << by), kMin16, kMax16);
}

int64_t ShiftedLeft32(int64_t x, int by) {
  return std::clamp(x * (int64_t{1} << by), kMin32, kMax32);
}

// TFLite's product with a factor of 31 bits, rounded before and after the shift.
int64_t MultipliedFixed(int64_t x, FixedPointFactor factor) {
  const int64_t high =
      MultiplyHighBits(x * (int64_t{1} << std::max(factor.shift, 0)), factor.multiplier, 32);
  return Divided(high, std::min(std::max(-factor.shift, 0), 31));
}

// Returns a factor with a multiplier of 15 bits.
FixedPointFactor ToFactor16(double factor) {
  FixedPointFactor f = ToFixedPoint(factor);
  const int64_t rounded = (int64_t{f.multiplier} + (1 << 15)) >> 16;
  f.multiplier = static_cast<int32_t>(std::min(rounded, kMax16));
  return f;
}

// 1 / sqrt(n) for n > 0, by five steps of Newton's method from 1, with numbers of 3 integer bits.
FixedPointFactor InverseSquareRoot(int64_t n) {
  if (n <= 1) return {static_cast<int32_t>(kMax32), 0};
  // Scales n to [2^27, 2^29) by powers of 4.
  int shift = 11;
  for (; n >= (int64_t{1} << 29); n /= 4) ++shift;
  const int pairs = (std::countl_zero(static_cast<uint32_t>(n)) - 1) / 2 - 1;
  shift -= pairs;
  n <<= 2 * pairs;
  const auto product = [](int64_t a, int64_t b) { return MultiplyHighBits(a, b, 32); };
  const int64_t half = Divided(n >> 1, 1);
  constexpr int64_t kThreeHalves = (1 << 28) + (1 << 27);
  int64_t x = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    // A product of two numbers with 3 integer bits has 6, of three such numbers 9.
    const int64_t cube = ShiftedLeft32(product(product(x, x), x), 6);
    x = ShiftedLeft32(product(kThreeHalves, x) - product(half, cube), 3);
  }
  x = product(x, std::llround(std::sqrt(0.5) * 0x1p31));
  return {static_cast<int32_t>(x), -shift};
}

}  // namespace

absl::Status QuantizedElu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const TableScales s, ReadScales(c));
  return SetFloatTable(c, s, [](float x) { return x < 0 ? ExpOf(x) - 1 : x; });
}

absl::Status QuantizedLogistic(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const TableScales s, ReadScales(c));
  KILN_RETURN_IF_ERROR(CheckOutput(s, 0x1p-8F, 0));
  return SetFloatTable(c, s, [](float x) { return 1 / (1 + ExpOf(-x)); });
}

absl::Status QuantizedTanh(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const TableScales s, ReadScales(c));
  KILN_RETURN_IF_ERROR(CheckOutput(s, 0x1p-7F, 128));
  return SetFloatTable(
      c, s, [](float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); });
}

absl::StatusOr<ValueId> InNumbersOfOutput(Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
  KILN_ASSIGN_OR_RETURN(const Quantization in, QuantizationOfInput(c, i));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  if (in == out) return x;
  if (in.per_channel() || out.per_channel()) {
    return absl::UnimplementedError("operands with several scales");
  }
  const float factor = in.scales[0] * (1 / out.scales[0]);
  const float bias = static_cast<float>(-in.zero_points[0]) * factor;
  return TableOf(c, x, [&](int64_t q) {
    const float rounded = std::round(static_cast<float>(q) * factor + bias);
    return static_cast<int64_t>(std::clamp(rounded, -1024.F, 1024.F)) + out.zero_points[0];
  });
}

// x times a gate that rises from 0 to 1 as x rises from -3 to 3. Both have 16 bits.
absl::Status QuantizedHardSwish(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const TableScales s, ReadScales(c));
  const float fine = s.in.scales[0] * (1.0F / 128);  // scale with 7 additional bits
  const FixedPointFactor out = ToFactor16(static_cast<double>(fine / s.out.scales[0]));
  const FixedPointFactor gate = ToFactor16(static_cast<double>(fine / (3.0F / 32768)));
  if (out.shift > 0) {
    return absl::UnimplementedError("an output scale of less than 1/128 of the input's");
  }
  return SetTable(c, [&](int64_t q) {
    const int64_t x = (q - s.in.zero_points[0]) * 128;
    int64_t open = x;
    // Only the last doubling, after the product, may saturate with an effect on the result.
    if (gate.shift > 0) open = ShiftedLeft16(open, std::min(gate.shift - 1, 31));
    open = MultiplyHighBits(open, gate.multiplier, 16);
    if (gate.shift > 0) open = ShiftedLeft16(open, 1);
    if (gate.shift < 0) open = Divided(open, -gate.shift);
    open = (open + (1 << 15)) >> 1;
    const int64_t scaled = MultiplyHighBits(x, out.multiplier, 16);
    return Divided(open * scaled / (1 << 15), -out.shift) + s.out.zero_points[0];
  });
}

// Numbers that represent no positive value become the largest number.
absl::Status QuantizedRsqrt(Converter& c) {
  constexpr int kBits = 20;  // fractional bits of the root
  KILN_ASSIGN_OR_RETURN(const TableScales s, ReadScales(c));
  FixedPointFactor factor = ToFixedPoint(
      1 / (std::sqrt(static_cast<double>(s.in.scales[0])) * static_cast<double>(s.out.scales[0])));
  factor.shift -= kBits;
  return SetTable(c, [&](int64_t q) -> int64_t {
    const int64_t n = q - s.in.zero_points[0];
    if (n <= 0) return kMax16;
    FixedPointFactor root = InverseSquareRoot(n);
    root.shift += kBits;
    return MultipliedFixed(MultipliedFixed(1, root), factor) + s.out.zero_points[0];
  });
}

}  // namespace kiln::tflite_frontend
