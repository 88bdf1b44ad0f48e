// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/compiler_macros.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kiln::codegen {
namespace {

struct Macro {
  absl::string_view name;
  const char* definition;
};

// Other macros of this file use it.
constexpr absl::string_view kPragma = "KILN_PRAGMA";

// __CC_ARM is armcc 5. It defines __GNUC__, too, if GNU extensions are enabled.
constexpr Macro kMacros[] = {
    {"KILN_COPY",
     "#if defined(__GNUC__) || defined(__clang__)\n"
     "#define KILN_COPY(to, from, bytes) __builtin_memcpy(to, from, bytes)\n"
     "#else\n"
     "#include <string.h>\n"
     "#define KILN_COPY(to, from, bytes) memcpy(to, from, bytes)\n"
     "#endif\n\n"},
    {kPragma, "#define KILN_PRAGMA(text) _Pragma(#text)\n\n"},
    {"KILN_ALIGNED",
     "#if defined(KILN_ALIGNED)\n"
     "#elif defined(__CC_ARM)\n"
     "#define KILN_ALIGNED(bytes) __align(bytes)\n"
     "#elif defined(__GNUC__) || defined(__clang__) || defined(__TI_GNU_ATTRIBUTE_SUPPORT__)\n"
     "#define KILN_ALIGNED(bytes) __attribute__((aligned(bytes)))\n"
     "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
     "#define KILN_ALIGNED(bytes) _Alignas(bytes)\n"
     "#elif defined(__ICCARM__)\n"
     "#define KILN_ALIGNED(bytes) KILN_PRAGMA(data_alignment = bytes)\n"
     "#else\n"
     "#define KILN_ALIGNED(bytes)\n"
     "#define KILN_UNALIGNED\n"
     "#endif\n\n"},
    {"KILN_NOT_INLINED",
     "#if defined(__GNUC__) || defined(__clang__) || defined(__CC_ARM)\n"
     "#define KILN_NOT_INLINED __attribute__((noinline))\n"
     "#elif defined(__ICCARM__)\n"
     "#define KILN_NOT_INLINED _Pragma(\"inline=never\")\n"
     "#else\n"
     "#define KILN_NOT_INLINED\n"
     "#endif\n\n"},
    {"KILN_ASSUME_ALIGNED",
     "#if defined(__GNUC__) || defined(__clang__)\n"
     "#define KILN_ASSUME_ALIGNED(pointer, bytes) __builtin_assume_aligned(pointer, bytes)\n"
     "#else\n"
     "#define KILN_ASSUME_ALIGNED(pointer, bytes) (pointer)\n"
     "#endif\n\n"},
    {"KILN_SECTION",
     "#if defined(__GNUC__) || defined(__clang__) || defined(__CC_ARM)\n"
     "#define KILN_SECTION(name) __attribute__((section(name)))\n"
     "#elif defined(__ICCARM__)\n"
     "#define KILN_SECTION(name) KILN_PRAGMA(location = name)\n"
     "#else\n"
     "#define KILN_SECTION(name)\n"
     "#endif\n\n"},
    // Follows KILN_ALIGNED, because assembly loads two words at once, which have to be aligned.
    {"KILN_ASSEMBLY",
     "#if !defined(KILN_ASSEMBLY)\n"
     "#if defined(KILN_UNALIGNED) || defined(__CC_ARM)\n"
     "#define KILN_ASSEMBLY 0\n"
     "#elif defined(__GNUC__) || defined(__clang__) || defined(__ICCARM__)\n"
     "#define KILN_ASSEMBLY 1\n"
     "#else\n"
     "#define KILN_ASSEMBLY 0\n"
     "#endif\n"
     "#elif KILN_ASSEMBLY && defined(KILN_UNALIGNED)\n"
     "#error \"assembly needs aligned data: compile as C11, or define KILN_ALIGNED(bytes)\"\n"
     "#endif\n\n"},
};

}  // namespace

std::string CompilerMacros(const std::set<std::string>& used, absl::string_view code) {
  const auto is_used = [&](const std::string& name) {
    return used.contains(name) || absl::StrContains(code, name);
  };
  std::string macros;
  for (const Macro& macro : kMacros) {
    const bool is_needed = macro.name == kPragma
                               ? is_used("KILN_ALIGNED") || is_used("KILN_SECTION")
                               : is_used(std::string(macro.name));
    if (is_needed) absl::StrAppend(&macros, macro.definition);
  }
  return macros;
}

}  // namespace kiln::codegen
