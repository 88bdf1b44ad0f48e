// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/cpu_choice_printer.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/target/cpu_variants.h"

namespace kiln::codegen {
namespace {

// $0 to $6: the indices of CpuWord, in its order; $7: their number; $8: CpuChoice::decide; $9:
// kAskForMatrices if a variant needs it, otherwise empty.
constexpr char kAsk[] =
    "/* The CPU variant that is chosen: 1 + its index, -1 - what the CPU lacks of the first, or 0 "
    "before anybody has asked. */\n"
    "static int32_t kiln_cpu_chosen = 0;\n\n"
    "static int32_t kiln_cpu_ask(void) {\n"
    "  uint32_t words[$7] = {0};\n"
    "  unsigned int a, b, c, d;\n"
    "  int32_t choice = 0;\n"
    "  if (__get_cpuid(1, &a, &b, &c, &d)) words[$0] = c;\n"
    "  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {\n"
    "    words[$1] = b;\n"
    "    words[$2] = c;\n"
    "    words[$3] = d;\n"
    "    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) words[$4] = a;\n"
    "  }\n"
    "  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) words[$5] = c;\n"
    "  /* XGETBV, which may be executed only where the operating system has enabled it. */\n"
    "  if ((words[$0] >> 27 & 1) != 0) {\n"
    "    __asm__ __volatile__(\".byte 0x0f, 0x01, 0xd0\" : \"=a\"(a), \"=d\"(d) : \"c\"(0));\n"
    "    words[$6] = a;\n"
    "  }\n"
    "$9"
    "  $8(words, &choice);\n"
    "  return choice;\n"
    "}\n\n";

// $0: the index of the word; $1: kCpuMatrixBits; $2: Helpers::RequestMatrices.
constexpr char kAskForMatrices[] =
    "#if defined(__linux__)\n"
    "  if ((words[$0] & $1) != 0 && $2() != 0) words[$0] &= ~$1;\n"
    "#endif\n";

// $0: the function that records an error.
constexpr char kFailPacked[] =
    "static int32_t kiln_cpu_fail(const char* text) {\n"
    "  $0(text);\n"
    "  return -1;\n"
    "}\n\n";
constexpr char kFailPlain[] =
    "/* Leaves an error where the program has a runtime that keeps it. */\n"
    "extern void TVMAPISetLastError(const char*) __attribute__((weak));\n\n"
    "static int32_t kiln_cpu_fail(const char* text) {\n"
    "  if (TVMAPISetLastError) TVMAPISetLastError(text);\n"
    "  return -1;\n"
    "}\n\n";

// $0: CpuChoice::function; $1, $2, $3: the texts of `variants`, `lacks` and `refusals`; $4: the
// number of variants; $5: the text of `unknown`.
constexpr char kChoose[] =
    "static const char* const kiln_cpu_variants[] = {$1};\n\n"
    "static int32_t $0(void* choice) {\n"
    "  static const char* const lacks[] = {$2};\n"
    "  int32_t chosen = __atomic_load_n(&kiln_cpu_chosen, __ATOMIC_RELAXED);\n"
    "  if (chosen == 0) {\n"
    "    /* Keeps what another thread has chosen. */\n"
    "    const int32_t asked = kiln_cpu_ask();\n"
    "    if (__atomic_compare_exchange_n(&kiln_cpu_chosen, &chosen, asked, 0, __ATOMIC_RELAXED, "
    "__ATOMIC_RELAXED)) {\n"
    "      chosen = asked;\n"
    "    }\n"
    "  }\n"
    "  *(int32_t*)choice = chosen;\n"
    "  return chosen > 0 ? 0 : kiln_cpu_fail(lacks[-1 - chosen]);\n"
    "}\n\n"
    "static int32_t kiln_cpu_select(const char* name) {\n"
    "  static const char* const refusals[] = {$3};\n"
    "  const int32_t best = kiln_cpu_ask();\n"
    "  int32_t i;\n"
    "  for (i = 0; i < $4; ++i) {\n"
    "    const char* a = name;\n"
    "    const char* b = kiln_cpu_variants[i];\n"
    "    while (*a != '\\0' && *a == *b) {\n"
    "      ++a;\n"
    "      ++b;\n"
    "    }\n"
    "    if (*a != *b) continue;\n"
    "    if (best < i + 1) return kiln_cpu_fail(refusals[i]);\n"
    "    __atomic_store_n(&kiln_cpu_chosen, i + 1, __ATOMIC_RELAXED);\n"
    "    return 0;\n"
    "  }\n"
    "  return kiln_cpu_fail($5);\n"
    "}\n\n";

// $0: CpuChoice::function; $1, $2: `get` and `set`; $3: parameters of a packed function; $4: the
// text of `unknown`.
constexpr char kPackedAccess[] =
    "int $1($3) {\n"
    "  int32_t choice = 0;\n"
    "  (void)args;\n"
    "  (void)type_codes;\n"
    "  (void)num_args;\n"
    "  (void)resource_handle;\n"
    "  if ($0(&choice) != 0) return -1;\n"
    "  ret_value->v_str = kiln_cpu_variants[choice - 1];\n"
    "  *ret_type_code = kTVMStr;\n"
    "  return 0;\n"
    "}\n\n"
    "int $2($3) {\n"
    "  (void)ret_value;\n"
    "  (void)ret_type_code;\n"
    "  (void)resource_handle;\n"
    "  if (num_args != 1 || type_codes[0] != kTVMStr) return kiln_cpu_fail($4);\n"
    "  return kiln_cpu_select(args[0].v_str);\n"
    "}\n\n";
constexpr char kPlainAccess[] =
    "const char* $1(void) {\n"
    "  int32_t choice = 0;\n"
    "  return $0(&choice) == 0 ? kiln_cpu_variants[choice - 1] : 0;\n"
    "}\n\n"
    "int32_t $2(const char* name) {\n"
    "  return name == 0 ? kiln_cpu_fail($4) : kiln_cpu_select(name);\n"
    "}\n\n";

// "\"a\", \"b\"": the elements of an array, which has at least one.
std::string Literals(absl::Span<const std::string> texts) {
  if (texts.empty()) return "0";
  return absl::StrJoin(texts, ", ", [](std::string* out, const std::string& text) {
    absl::StrAppend(out, StringLiteral(text));
  });
}

}  // namespace

absl::StatusOr<std::string> CpuVariantMacros(const CContext& context) {
  std::string macros;
  for (size_t k = 0; k < context.options.cpu_variants.size(); ++k) {
    KILN_ASSIGN_OR_RETURN(const std::vector<const CpuFeature*> features,
                          CpuFeaturesOf(context.options.cpu_variants[k]));
    const std::string names = absl::StrJoin(
        features, ",",
        [](std::string* out, const CpuFeature* feature) { absl::StrAppend(out, feature->name); });
    absl::StrAppend(&macros, "#define KILN_CPU_VARIANT_", k,
                    names.empty() ? "" : " __attribute__((target(\"" + names + "\")))", "\n");
  }
  return absl::StrCat(
      "#if !defined(__x86_64__) || !defined(__GNUC__)\n"
      "#error \"CPU variants need gcc or clang for x86-64\"\n"
      "#endif\n",
      macros, "\n");
}

std::string CpuChoicePrototypes(const CContext& context) {
  const loop::CpuChoice& choice = *context.program.cpu_choice;
  if (!choice.packed) {
    return absl::StrCat("const char* ", choice.get, "(void);\nint32_t ", choice.set,
                        "(const char* name);\n");
  }
  return absl::StrCat("TVM_DLL int ", choice.get, "(", kPackedParameters, ");\nTVM_DLL int ",
                      choice.set, "(", kPackedParameters, ");\n");
}

std::string CpuChoiceFunctions(CContext& context) {
  const loop::CpuChoice& choice = *context.program.cpu_choice;
  const std::string fail =
      choice.packed ? absl::Substitute(kFailPacked, context.Runtime("TVMAPISetLastError"))
                    : kFailPlain;
  const std::string unknown = StringLiteral(choice.unknown);
  const bool uses_matrices =
      absl::c_any_of(context.options.cpu_variants,
                     [](const Target& variant) { return variant.HasFeature("amx-tile"); });
  std::string ask_for_matrices;
  if (uses_matrices) {
    ask_for_matrices = absl::Substitute(kAskForMatrices, int{kCpuLeaf7Edx},
                                        absl::StrCat("0x", absl::Hex(kCpuMatrixBits), "u"),
                                        context.helpers.RequestMatrices());
  }
  return absl::StrCat(
      absl::Substitute(kAsk, int{kCpuLeaf1Ecx}, int{kCpuLeaf7Ebx}, int{kCpuLeaf7Ecx},
                       int{kCpuLeaf7Edx}, int{kCpuLeaf7Sub1Eax}, int{kCpuLeaf80000001Ecx},
                       int{kCpuXcr0}, kNumCpuWords, choice.decide, ask_for_matrices),
      fail,
      absl::Substitute(kChoose, choice.function, Literals(context.program.cpu_variants()),
                       Literals(choice.lacks), Literals(choice.refusals),
                       context.program.cpu_variants().size(), unknown),
      absl::Substitute(choice.packed ? kPackedAccess : kPlainAccess, choice.function, choice.get,
                       choice.set, kPackedParameters, unknown));
}

}  // namespace kiln::codegen
