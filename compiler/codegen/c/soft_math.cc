// SPDX-License-Identifier: Apache-2.0
// Square root and rounding of floats by integer arithmetic, for generated code that links with no
// library.
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

using loop::UnaryOp;

// In all of them `$0` is the float type and `$1` its short name.

// kAbs: `$2`: the short name of the unsigned type of the same width; `$3`: the mask of all bits but
// the sign.
constexpr char kAbs[] =
    "static inline $0 kiln_abs_$1($0 x) {\n"
    "  return kiln_bits_$2_$1(kiln_bits_$1_$2(x) & $3);\n"
    "}\n\n";

// kTrunc, kRound and kSqrtHead: `$2`: the unsigned type of the same width; `$3`: its short name.

// kTrunc: `$4`: bits of the fraction; `$5`: bias of the exponent; `$6`: mask of the exponent; `$7`:
// mask of the fraction; `$8`: the sign.
constexpr char kTrunc[] =
    "static inline $0 kiln_trunc_$1($0 x) {\n"
    "  const $2 bits = kiln_bits_$1_$3(x);\n"
    "  const int exponent = (int)((bits >> $4) & $6) - $5;\n"
    "  if (exponent >= $4) return x; /* has no fraction, or is no number */\n"
    "  if (exponent < 0) return kiln_bits_$3_$1(bits & $8);\n"
    "  return kiln_bits_$3_$1(bits & ~($7 >> exponent));\n"
    "}\n\n";

// kFloor and kCeil: `$2`: "1.0f".
constexpr char kFloor[] =
    "static inline $0 kiln_floor_$1($0 x) {\n"
    "  const $0 whole = kiln_trunc_$1(x);\n"
    "  return whole > x ? whole - $2 : whole;\n"
    "}\n\n";
// For -1 < x < 0 the result is the -0 of trunc.
constexpr char kCeil[] =
    "static inline $0 kiln_ceil_$1($0 x) {\n"
    "  const $0 whole = kiln_trunc_$1(x);\n"
    "  return whole < x ? whole + $2 : whole;\n"
    "}\n\n";

// kRound: `$4`: the sign; `$5`: two to the power of the fraction's bits. Larger floats have no
// fraction, and adding it rounds smaller ones.
constexpr char kRound[] =
    "/* Halves to even. */\n"
    "static inline $0 kiln_round_$1($0 x) {\n"
    "  const $2 bits = kiln_bits_$1_$3(x);\n"
    "  const $0 magnitude = kiln_bits_$3_$1(bits & ~$4);\n"
    "  if (!(magnitude < $5)) return x;\n"
    "  return kiln_bits_$3_$1(kiln_bits_$1_$3((magnitude + $5) - $5) | (bits & $4));\n"
    "}\n\n";

// The instruction of Arm's and RISC-V's floating-point units. Compilers only use it if flags say
// that errno need not be set.
constexpr char kSqrtInstruction[] =
    "#if KILN_ASSEMBLY && defined(__ARM_FP) && (__ARM_FP & 4) && !defined(__aarch64__)\n"
    "  float root;\n"
    "  __asm(\"vsqrt.f32 %0, %1\" : \"=t\"(root) : \"t\"(x));\n"
    "  return root;\n"
    "#elif defined(__GNUC__) && defined(__riscv_flen)\n"
    "  float root;\n"
    "  __asm__(\"fsqrt.s %0, %1\" : \"=f\"(root) : \"f\"(x));\n"
    "  return root;\n"
    "#else\n";

// Computes the root digit by digit, from a mantissa with one more digit than the result, which then
// rounds it. A square root is never halfway between two floats. `$4`: bits of the fraction; `$5`:
// mask of the exponent; `$6`: the sign; `$7`: infinity; `$8`: NaN; `$9`: the instruction, if there
// is one.
constexpr char kSqrtHead[] =
    "/* Correctly rounded. */\n"
    "static inline $0 kiln_sqrt_$1($0 x) {\n"
    "$9"
    "  const $2 bits = kiln_bits_$1_$3(x);\n"
    "  $2 mantissa = bits & ((($2)1 << $4) - 1u);\n"
    "  $2 root = 0;\n"
    "  $2 rest = 0;\n"
    "  int exponent = (int)((bits >> $4) & $5);\n"
    "  int pair;\n"
    "  if (x != x || x == 0 || x == $7) return x;\n"
    "  if ((bits & $6) != 0) return $8;\n"
    "  if (exponent == 0) {\n"
    "    for (exponent = 1; (mantissa >> $4) == 0; --exponent) mantissa <<= 1;\n"
    "  }\n"
    "  mantissa |= ($2)1 << $4;\n";
// `$0`: the unsigned type; `$1`: shift that makes the exponent of the mantissa's last bit even if
// the biased exponent is odd; `$2`: pairs of digits; `$3`: pairs in the mantissa; `$4`: bits of the
// fraction; `$5`: bias of the exponent; `$6`: the name of the bitcast; `$7`: the end of the
// condition.
constexpr char kSqrtTail[] =
    "  mantissa <<= (exponent & 1) != 0 ? $1 : $1 + 1;\n"
    "  exponent = (exponent + $5 - 1 + (exponent & 1)) / 2;\n"
    "  for (pair = 0; pair < $2; ++pair) {\n"
    "    $0 trial;\n"
    "    rest <<= 2;\n"
    "    if (pair < $3) rest |= (mantissa >> (2 * ($3 - 1 - pair))) & 3u;\n"
    "    root <<= 1;\n"
    "    trial = (root << 1) | 1u;\n"
    "    if (rest >= trial) {\n"
    "      rest -= trial;\n"
    "      root |= 1u;\n"
    "    }\n"
    "  }\n"
    "  root = (root + 1u) >> 1;\n"
    "  return $6((($0)(exponent - 1) << $4) + root);\n"
    "$7}\n\n";

}  // namespace

std::string SoftUnaryDefinition(UnaryOp op, DType dtype) {
  const DType bits = DType::UInt(dtype.bits);
  const bool wide = dtype.bits == 64;
  const std::string type = CType(dtype), name = ShortName(dtype), word = CType(bits),
                    word_name = ShortName(bits);
  const int fraction = wide ? 52 : 23;
  const int bias = wide ? 1023 : 127;
  const std::string sign = wide ? "UINT64_C(0x8000000000000000)" : "0x80000000u";
  const std::string exponent_mask = wide ? "0x7ffu" : "0xffu";
  const std::string one = FloatLiteral(dtype, 1);
  switch (op) {
    case UnaryOp::kAbs:
      return absl::Substitute(kAbs, type, name, word_name,
                              wide ? "UINT64_C(0x7fffffffffffffff)" : "0x7fffffffu");
    case UnaryOp::kTrunc:
      return absl::Substitute(kTrunc, type, name, word, word_name, fraction, bias, exponent_mask,
                              wide ? "UINT64_C(0x000fffffffffffff)" : "0x007fffffu", sign);
    case UnaryOp::kFloor:
      return absl::Substitute(kFloor, type, name, one);
    case UnaryOp::kCeil:
      return absl::Substitute(kCeil, type, name, one);
    case UnaryOp::kRoundEven:
      return absl::Substitute(kRound, type, name, word, word_name, sign,
                              wide ? "4503599627370496.0" : "8388608.0f");
    default:
      break;
  }
  // sqrt: 25 pairs of digits, 13 of them in the mantissa with a zero digit appended. In double 54
  // and 27.
  return absl::StrCat(
      absl::Substitute(kSqrtHead, type, name, word, word_name, fraction, exponent_mask, sign,
                       FloatLiteral(dtype, std::numeric_limits<double>::infinity()),
                       FloatLiteral(dtype, std::numeric_limits<double>::quiet_NaN()),
                       wide ? "" : kSqrtInstruction),
      absl::Substitute(kSqrtTail, word, wide ? 0 : 1, wide ? 54 : 25, wide ? 27 : 13, fraction,
                       bias, absl::StrCat("kiln_bits_", word_name, "_", name),
                       wide ? "" : "#endif\n"));
}

}  // namespace kiln::codegen
