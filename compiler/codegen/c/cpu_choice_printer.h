// SPDX-License-Identifier: Apache-2.0
// loop::CpuChoice in C of gcc and clang for x86-64: how a program with CPU variants finds the one
// that it runs.
#ifndef KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// What stands before a function of a variant, by Func::cpu_variant: "KILN_CPU_VARIANT_1 ", nothing for one
// that is of none.
std::string CpuVariantPrefix(int variant);

// Definitions of the macros of these prefixes.
absl::StatusOr<std::string> CpuVariantMacros(const CContext& context);

// Declarations of what CpuChoice exports.
std::string CpuChoicePrototypes(const CContext& context);

// Definitions of CpuChoice's functions. They need cpuid.h.
std::string CpuChoiceFunctions(CContext& context);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_
