// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add and square root of floats by builtins that compile to one instruction without
// any flags. Clang assumes that fmaf and sqrtf set errno, and calls them unless -fno-math-errno is
// given. __builtin_elementwise_fma never sets errno.
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

// `$0`: the float type; `$1`: its short name; `$2`: the suffix of functions of math.h; `$3` and
// `$4`: condition and instruction for Arm; `$5` and `$6`: the same for RISC-V; `$7`: the constraint
// for Arm's registers.
constexpr char kFma[] =
    "#if !defined(__GNUC__) && !KILN_HAS_BUILTIN(__builtin_elementwise_fma)\n"
    "#include <math.h>\n"
    "#endif\n"
    "/* a * b + c, rounded once. */\n"
    "static inline $0 kiln_fma_$1($0 a, $0 b, $0 c) {\n"
    "#if KILN_HAS_BUILTIN(__builtin_elementwise_fma)\n"
    "  return __builtin_elementwise_fma(a, b, c);\n"
    "#elif defined(__clang__) && defined(__arm__) && defined(__ARM_FEATURE_FMA)$3\n"
    "  __asm__(\"$4 %0, %1, %2\" : \"+$7\"(c) : \"$7\"(a), \"$7\"(b));\n"
    "  return c;\n"
    "#elif defined(__clang__) && defined(__riscv_flen)$5\n"
    "  __asm__(\"$6 %0, %1, %2, %0\" : \"+f\"(c) : \"f\"(a), \"f\"(b));\n"
    "  return c;\n"
    "#elif defined(__GNUC__)\n"
    "  return __builtin_fma$2(a, b, c);\n"
    "#else\n"
    "  return fma$2(a, b, c);\n"
    "#endif\n"
    "}\n\n";

// `$0` to `$2` are those of kFma.
constexpr char kSqrt[] =
    "static inline $0 kiln_sqrt_$1($0 x) {\n"
    "#if KILN_HAS_BUILTIN(__builtin_elementwise_sqrt)\n"
    "  return __builtin_elementwise_sqrt(x);\n"
    "#else\n"
    "  return sqrt$2(x);\n"
    "#endif\n"
    "}\n\n";

}  // namespace

// GCC before version 10 has no __has_builtin.
const char kHasBuiltin[] =
    "#if defined(__has_builtin)\n"
    "#define KILN_HAS_BUILTIN(name) __has_builtin(name)\n"
    "#else\n"
    "#define KILN_HAS_BUILTIN(name) 0\n"
    "#endif\n\n";

std::string FmaDefinition(DType dtype) {
  if (dtype.bits == 32) {
    return absl::Substitute(kFma, CType(dtype), ShortName(dtype), "f", "", "vfma.f32", "",
                            "fmadd.s", "t");
  }
  return absl::Substitute(kFma, CType(dtype), ShortName(dtype), "", " && (__ARM_FP & 8)",
                          "vfma.f64", " && __riscv_flen >= 64", "fmadd.d", "w");
}

std::string LibmSqrtDefinition(DType dtype) {
  return absl::Substitute(kSqrt, CType(dtype), ShortName(dtype), dtype.bits == 32 ? "f" : "");
}

}  // namespace kiln::codegen
