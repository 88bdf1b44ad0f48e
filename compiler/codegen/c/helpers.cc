// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/helpers.h"

#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::UnaryOp;

// The unsigned type in which the arithmetic of `dtype` wraps around.
std::string WrapType(DType dtype) { return dtype.bits == 64 ? "uint64_t" : "uint32_t"; }

std::string UnaryName(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs:
      return "abs";
    case UnaryOp::kSqrt:
      return "sqrt";
    case UnaryOp::kFloor:
      return "floor";
    case UnaryOp::kCeil:
      return "ceil";
    case UnaryOp::kTrunc:
      return "trunc";
    case UnaryOp::kRoundEven:
      return "round";
    default:
      return "";
  }
}

// `$0`: the type; `$1`: its short name; `$2`: the type in which arithmetic wraps around.
constexpr char kMin[] =
    "static inline $0 kiln_min_$1($0 a, $0 b) {\n  return b < a ? b : a;\n}\n\n";
constexpr char kMax[] =
    "static inline $0 kiln_max_$1($0 a, $0 b) {\n  return b > a ? b : a;\n}\n\n";
constexpr char kRoundingMulHigh[] =
    "/* a * b / 2^31, rounded to nearest, halves up. */\n"
    "static inline $0 kiln_rounding_mul_high_$1($0 a, $0 b) {\n"
    "  return ($0)($2)((uint64_t)((int64_t)a * b + (1 << 30)) >> 31);\n"
    "}\n\n";
constexpr char kRoundingMulTop[] =
    "/* a * b / 2^32, rounded to nearest, halves up. */\n"
    "static inline $0 kiln_rounding_mul_top_$1($0 a, $0 b) {\n"
    "#if KILN_ASSEMBLY && defined(__ARM_FEATURE_DSP)\n"
    "  $0 top;\n"
    "  __asm(\"smmulr %0, %1, %2\" : \"=r\"(top) : \"r\"(a), \"r\"(b));\n"
    "  return top;\n"
    "#else\n"
    "  return ($0)($2)((uint64_t)((int64_t)a * b + ((int64_t)1 << 31)) >> 32);\n"
    "#endif\n"
    "}\n\n";
constexpr char kRoundingShr[] =
    "/* a / 2^n, rounded to nearest, halves away from zero. */\n"
    "static inline $0 kiln_rounding_shr_$1($0 a, $0 n) {\n"
    "  const $2 shift = ($2)n & 31u;\n"
    "  const $2 magnitude = a < 0 ? 0u - ($2)a : ($2)a;\n"
    "  const $2 rounded = (magnitude + ((1u << shift) >> 1)) >> shift;\n"
    "  return ($0)(a < 0 ? 0u - rounded : rounded);\n"
    "}\n\n";
// `$0`: the name; `$1` and `$2`: the least and the greatest value of the type; `$3`: the
// instruction; `$4`: its number of bits; `$5` and `$6`: the shift in the instruction and in C.
// Clang selects the instruction without assembly.
constexpr char kSaturate[] =
    "static inline int32_t $0(int32_t x) {\n"
    "#if KILN_ASSEMBLY && !defined(__clang__) && defined(__ARM_FEATURE_SAT)\n"
    "  int32_t saturated;\n"
    "  __asm(\"$3 %0, #$4, %1$5\" : \"=r\"(saturated) : \"r\"(x) : \"cc\");\n"
    "  return saturated;\n"
    "#else\n"
    "  const int32_t value = x$6;\n"
    "  const int32_t at_most = $2 < value ? $2 : value;\n"
    "  return $1 > at_most ? $1 : at_most;\n"
    "#endif\n"
    "}\n\n";
// `$0`: the name; `$1`: the condition; `$2`: the inclusion of a header; `$3` and `$4`: the types of
// the factors; `$5`: the body; `$6`: statements that add the products one by one.
constexpr char kDot[] =
    "$2"
    "/* sum and the products of two groups, in 32 bits that wrap around. */\n"
    "static inline int32_t kiln_dot_$0(int32_t sum, const $3* a, const $4* b) {\n"
    "#if $1\n"
    "  $5\n"
    "#else\n"
    "  uint32_t total = (uint32_t)sum;\n"
    "$6"
    "  return (int32_t)total;\n"
    "#endif\n"
    "}\n\n";
constexpr char kAbsInt[] =
    "static inline $0 kiln_abs_$1($0 a) {\n  return a < 0 ? ($0)(0u - ($2)a) : a;\n}\n\n";
constexpr char kDivSigned[] =
    "/* Truncates; x / 0 is 0, and the smallest value / -1 is itself. */\n"
    "static inline $0 kiln_div_$1($0 a, $0 b) {\n"
    "  if (b == 0) return 0;\n"
    "  if (b == -1) return ($0)(0u - ($2)a);\n"
    "  return ($0)(a / b);\n"
    "}\n\n";
constexpr char kModSigned[] =
    "/* Has the sign of a; x % 0 is 0. */\n"
    "static inline $0 kiln_mod_$1($0 a, $0 b) {\n"
    "  if (b == 0 || b == -1) return 0;\n"
    "  return ($0)(a % b);\n"
    "}\n\n";
constexpr char kDivUnsigned[] =
    "/* x / 0 is 0. */\n"
    "static inline $0 kiln_div_$1($0 a, $0 b) {\n  return b == 0 ? ($0)0 : ($0)(a / b);\n}\n\n";
constexpr char kModUnsigned[] =
    "/* x % 0 is 0. */\n"
    "static inline $0 kiln_mod_$1($0 a, $0 b) {\n  return b == 0 ? ($0)0 : ($0)(a % b);\n}\n\n";

// `$0`: from; `$1`: to; `$2` and `$3`: their short names; `$4` and `$5`: the largest and the
// smallest value of `from` that fits; `$6`: the result, in which `truncated` is the value if it
// fits.
constexpr char kCast[] =
    "/* Truncates, saturates, and makes 0 of NaN. */\n"
    "static inline $1 kiln_cast_$2_$3($0 x) {\n"
    "  const $0 at_most = x < $4 ? x : $4;\n"
    "  const $0 in_range = at_most > $5 ? at_most : $5;\n"
    "  const $1 truncated = ($1)in_range;\n"
    "  return $6;\n"
    "}\n\n";

constexpr char kBitcast[] =
    "static inline $1 kiln_bits_$2_$3($0 x) {\n"
    "  union {\n"
    "    $0 from;\n"
    "    $1 to;\n"
    "  } bits;\n"
    "  bits.from = x;\n"
    "  return bits.to;\n"
    "}\n\n";

// float16 by its bits, or by the conversions of a Cortex-M's floating-point unit. Subnormals are
// multiples of 2^-24, which is the last place of 0.5.
constexpr char kFloatFromHalf[] =
    "static inline float kiln_cast_f16_f32(uint16_t x) {\n"
    "#if KILN_ASSEMBLY && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'\n"
    "  float wide;\n"
    "  __asm(\"vcvtb.f32.f16 %0, %1\" : \"=t\"(wide) : \"t\"(kiln_bits_u32_f32(x)));\n"
    "  return wide;\n"
    "#else\n"
    "  const uint32_t magnitude = x & 0x7fffu;\n"
    "  uint32_t bits;\n"
    "  if (magnitude >= 0x7c00u) { /* infinity, NaN */\n"
    "    bits = (magnitude << 13) | 0x7f800000u;\n"
    "  } else if (magnitude >= 0x400u) {\n"
    "    bits = (magnitude << 13) + 0x38000000u;\n"
    "  } else { /* in units of 2^-24, the last place of 0.5 */\n"
    "    bits = kiln_bits_f32_u32(kiln_bits_u32_f32(magnitude + 0x3f000000u) - 0.5f);\n"
    "  }\n"
    "  return kiln_bits_u32_f32(bits | ((x & 0x8000u) << 16));\n"
    "#endif\n"
    "}\n\n";
constexpr char kHalfFromFloat[] =
    "/* To nearest, halves to even. */\n"
    "static inline uint16_t kiln_cast_f32_f16(float x) {\n"
    "#if KILN_ASSEMBLY && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'\n"
    "  float narrow;\n"
    "  __asm(\"vcvtb.f16.f32 %0, %1\" : \"=t\"(narrow) : \"t\"(x));\n"
    "  return (uint16_t)kiln_bits_f32_u32(narrow);\n"
    "#else\n"
    "  const uint32_t magnitude = kiln_bits_f32_u32(x) & 0x7fffffffu;\n"
    "  const uint32_t sign = (kiln_bits_f32_u32(x) >> 16) & 0x8000u;\n"
    "  uint32_t half;\n"
    "  if (magnitude >= 0x47800000u) { /* from 65536 on; NaN */\n"
    "    half = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;\n"
    "  } else if (magnitude >= 0x38800000u) {\n"
    "    half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;\n"
    "  } else { /* in units of 2^-24, the last place of 0.5, to which the sum is rounded */\n"
    "    half = kiln_bits_f32_u32(kiln_bits_u32_f32(magnitude) + 0.5f) - 0x3f000000u;\n"
    "  }\n"
    "  return (uint16_t)(sign | half);\n"
    "#endif\n"
    "}\n\n";

constexpr char kFloatFromBFloat[] =
    "static inline float kiln_cast_bf16_f32(uint16_t x) {\n"
    "  return kiln_bits_u32_f32((uint32_t)x << 16);\n"
    "}\n\n";
constexpr char kBFloatFromFloat[] =
    "/* To nearest, halves to even; subnormals to 0. */\n"
    "static inline uint16_t kiln_cast_f32_bf16(float x) {\n"
    "  const uint32_t bits = kiln_bits_f32_u32(x);\n"
    "  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;\n"
    "  const uint32_t number = (bits & 0x7f800000u) == 0u ? (bits >> 16) & 0x8000u : rounded;\n"
    "  return (uint16_t)(x == x ? number : (bits >> 16) | 0x40u);\n"
    "}\n\n";
constexpr char kFlush[] =
    "/* Subnormals as 0 of their sign. */\n"
    "static inline float kiln_flush_f32(float x) {\n"
    "  const uint32_t bits = kiln_bits_f32_u32(x);\n"
    "  return (bits & 0x7f800000u) == 0u ? kiln_bits_u32_f32(bits & 0x80000000u) : x;\n"
    "}\n\n";
// `$0`: kiln_fma_f32; `$1`: -2^-126 * 2^-151.
constexpr char kBFloatProduct[] =
    "/* sum + a * b as VDPBF16PS adds it. */\n"
    "#if defined(__GNUC__)\n"
    "__attribute__((unused))\n"
    "#endif\n"
    "static inline float kiln_add_product_bf16(float sum, uint16_t a, uint16_t b) {\n"
    "  const float x = kiln_flush_f32(kiln_cast_bf16_f32(a));\n"
    "  const float y = kiln_flush_f32(kiln_cast_bf16_f32(b));\n"
    "  const float s = kiln_flush_f32(sum);\n"
    "  const float rounded = $0(x, y, s);\n"
    "  /* What rounding has taken away. Below 2^-126, half of the 24th bit is 2^-151. */\n"
    "  const double rest = (double)s - (double)rounded + (double)x * (double)y;\n"
    "  const uint32_t bits = kiln_bits_f32_u32(rounded);\n"
    "  if ((bits & 0x7fffffffu) == 0x00800000u && (double)rounded * rest < $1) {\n"
    "    return kiln_bits_u32_f32(bits & 0x80000000u);\n"
    "  }\n"
    "  return kiln_flush_f32(rounded);\n"
    "}\n\n";

template <typename F>
std::string CastDefinition(DType from, DType to) {
  // The bounds as floats. The largest integer may round up to a power of two. The largest value
  // that fits is then the next float below, and saturation covers the integers above that float.
  const double max = to.is_uint() ? static_cast<double>(static_cast<uint64_t>(to.MaxInt()))
                                  : static_cast<double>(to.MaxInt());
  const F rounded = static_cast<F>(max);
  const F power = std::ldexp(F{1}, to.is_int() ? to.bits - 1 : to.bits);
  const bool rounds_up = rounded == power;
  const F largest = rounds_up ? std::nextafter(power, F{0}) : rounded;
  const F smallest = to.is_int() ? -std::ldexp(F{1}, to.bits - 1) : F{0};
  std::string result = "x == x ? truncated : ($1)0";
  if (rounds_up) {
    const std::string max_name = absl::StrCat(to.is_uint() ? "UINT" : "INT", to.bits, "_MAX");
    result = absl::StrCat("x >= ", FloatLiteral(from, power), " ? ", max_name,
                          " : x == x ? truncated : 0", to.is_uint() ? "u" : "");
  } else {
    result = absl::StrCat("x == x ? truncated : (", CType(to), ")0");
  }
  return absl::Substitute(kCast, CType(from), CType(to), ShortName(from), ShortName(to),
                          FloatLiteral(from, largest), FloatLiteral(from, smallest), result);
}

}  // namespace

std::string OncePerUnit(absl::string_view name, absl::string_view definition) {
  const std::string macro = absl::StrCat(absl::AsciiStrToUpper(name), "_DEFINED");
  return absl::StrCat("#ifndef ", macro, "\n#define ", macro, "\n",
                      absl::StripTrailingAsciiWhitespace(definition), "\n#endif\n\n");
}

std::string Helpers::Define(const std::string& name, const std::string& text) {
  if (defined_.insert(name).second) definitions_.append(OncePerUnit(name, text));
  return name;
}

std::string Helpers::Unary(UnaryOp op, DType dtype) {
  const std::string name = absl::StrCat("kiln_", UnaryName(op), "_", ShortName(dtype));
  if (!dtype.is_float()) {
    return Define(name, absl::Substitute(kAbsInt, CType(dtype), ShortName(dtype), WrapType(dtype)));
  }
  if (!libm_) return WithoutLibm(op, dtype, name);
  uses_math_h_ = true;
  if (op == UnaryOp::kSqrt) {
    uses_has_builtin_ = true;
    return Define(name, LibmSqrtDefinition(dtype));
  }
  const std::string in_math_h = op == UnaryOp::kAbs         ? "fabs"
                                : op == UnaryOp::kRoundEven ? "rint"
                                                            : UnaryName(op);
  return absl::StrCat(in_math_h, dtype.bits == 32 ? "f" : "");
}

std::string Helpers::WithoutLibm(UnaryOp op, DType dtype, const std::string& name) {
  const DType bits = DType::UInt(dtype.bits);
  Bitcast(dtype, bits);
  Bitcast(bits, dtype);
  if (op == UnaryOp::kFloor || op == UnaryOp::kCeil) Unary(UnaryOp::kTrunc, dtype);
  return Define(name, SoftUnaryDefinition(op, dtype));
}

std::string Helpers::Binary(BinaryOp op, DType dtype) {
  const char* text = nullptr;
  const char* verb = nullptr;
  switch (op) {
    case BinaryOp::kMin:
      text = kMin;
      verb = "min";
      break;
    case BinaryOp::kMax:
      text = kMax;
      verb = "max";
      break;
    case BinaryOp::kRoundingMulHigh:
      text = kRoundingMulHigh;
      verb = "rounding_mul_high";
      break;
    case BinaryOp::kRoundingMulTop:
      text = kRoundingMulTop;
      verb = "rounding_mul_top";
      break;
    case BinaryOp::kRoundingShr:
      text = kRoundingShr;
      verb = "rounding_shr";
      break;
    case BinaryOp::kDiv:
      text = dtype.is_int() ? kDivSigned : kDivUnsigned;
      verb = "div";
      break;
    default:
      text = dtype.is_int() ? kModSigned : kModUnsigned;
      verb = "mod";
      break;
  }
  return Define(absl::StrCat("kiln_", verb, "_", ShortName(dtype)),
                absl::Substitute(text, CType(dtype), ShortName(dtype), WrapType(dtype)));
}

std::string Helpers::SaturatingCast(DType from, DType to) {
  return Define(
      absl::StrCat("kiln_cast_", ShortName(from), "_", ShortName(to)),
      from.bits == 32 ? CastDefinition<float>(from, to) : CastDefinition<double>(from, to));
}

std::string CpuVariantPrefix(int target) {
  return target == 0 ? "" : absl::StrCat("KILN_CPU_VARIANT_", target - 1, " ");
}

std::string Helpers::Guard(const DotForm& form) const {
  if (target_ == 0) return absl::StrCat("defined(__GNUC__) && ", form.guard);
  return machine_->HasFeatures(form.features) ? "defined(__GNUC__)" : "0";
}

std::string Helpers::InVariant(const std::string& name) const {
  return target_ == 0 ? name : absl::StrCat(name, "_variant_", target_ - 1);
}

std::string Helpers::Saturate(DType to, int shift) {
  const bool shifts = shift > 0;
  const std::string name =
      absl::StrCat("kiln_saturate_", ShortName(to), shifts ? absl::StrCat("_shr", shift) : "");
  return Define(name,
                absl::Substitute(kSaturate, name, IntLiteral(DType::Int(32), to.MinInt()),
                                 IntLiteral(DType::Int(32), static_cast<int64_t>(to.MaxInt())),
                                 to.is_int() ? "ssat" : "usat", to.bits,
                                 shifts ? absl::StrCat(", asr #", shift) : "",
                                 shifts ? absl::StrCat(" >> ", shift) : ""));
}

std::string Helpers::StoredFloatCast(DType from, DType to) {
  Bitcast(DType::Float(32), DType::UInt(32));
  Bitcast(DType::UInt(32), DType::Float(32));
  const char* const text = from.is_bfloat()  ? kFloatFromBFloat
                           : to.is_bfloat()  ? kBFloatFromFloat
                           : from.bits == 16 ? kFloatFromHalf
                                             : kHalfFromFloat;
  return Define(absl::StrCat("kiln_cast_", ShortName(from), "_", ShortName(to)), text);
}

std::string Helpers::Flush() {
  Bitcast(DType::Float(32), DType::UInt(32));
  Bitcast(DType::UInt(32), DType::Float(32));
  return Define("kiln_flush_f32", kFlush);
}

std::string Helpers::BFloatProduct() {
  StoredFloatCast(DType::BFloat(), DType::Float(32));
  Flush();
  return Define("kiln_add_product_bf16",
                absl::Substitute(kBFloatProduct, Fma(DType::Float(32)),
                                 FloatLiteral(DType::Float(64), -0x1p-126 * 0x1p-151)));
}

std::string Helpers::Bitcast(DType from, DType to) {
  return Define(absl::StrCat("kiln_bits_", ShortName(from), "_", ShortName(to)),
                absl::Substitute(kBitcast, CType(from), CType(to), ShortName(from), ShortName(to)));
}

std::string Helpers::Dot(const DotInstruction& row) {
  std::string name = absl::StrReplaceAll(row.name, {{".", "_"}});
  const loop::DotShape shape =
      *loop::DotShape::Of(1, row.group, row.group, {.group = row.group, .swaps = row.swaps});
  std::string products;
  for (int k = 0; k < row.group; ++k) {
    absl::StrAppend(&products, "  total += (uint32_t)((int32_t)a[", k, "] * b[", shape.InB(0, k),
                    "]);\n");
  }
  const std::string include =
      row.c.header.empty()
          ? ""
          : absl::StrCat("#if ", row.c.guard, "\n#include <", row.c.header, ">\n#endif\n");
  std::string text = absl::Substitute(kDot, name, row.c.guard, include, CType(row.a), CType(row.b),
                                      row.c.body, products);
  return Define("kiln_dot_" + name, text);
}

std::string Helpers::Fma(DType dtype) {
  uses_math_h_ = uses_math_h_ || libm_;
  uses_fma_ = uses_has_builtin_ = true;
  return Define(absl::StrCat("kiln_fma_", ShortName(dtype)), FmaDefinition(dtype));
}

}  // namespace kiln::codegen
