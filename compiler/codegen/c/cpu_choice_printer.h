// SPDX-License-Identifier: Apache-2.0
// loop::CpuChoice in C for gcc and clang on x86-64: code that finds the CPU variant to run.
#ifndef KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// Definitions of the macros that CpuVariantPrefix refers to.
absl::StatusOr<std::string> CpuVariantMacros(const CContext& context);

// Declarations of the functions that CpuChoice exports.
std::string CpuChoicePrototypes(const CContext& context);

// Definitions of CpuChoice's functions. They need cpuid.h.
std::string CpuChoiceFunctions(CContext& context);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CPU_CHOICE_PRINTER_H_
