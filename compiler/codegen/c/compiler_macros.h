// SPDX-License-Identifier: Apache-2.0
// Macros of a generated file for alignment, sections, inlining and assembly, defined for each C
// compiler. emit.cc has the pragmas for gcc and clang. Conditions on an instruction are at its use.
#ifndef KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_
#define KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::codegen {

// Returns the definitions of the macros that are in `used` or occur in `code`:
//
// - KILN_ALIGNED(bytes) precedes a declaration. If the compiler cannot align, the macro is empty
//   and KILN_UNALIGNED is defined.
// - KILN_NOT_INLINED precedes a function.
// - KILN_SECTION(name) precedes a declaration.
// - KILN_ASSUME_ALIGNED(pointer, bytes) is the pointer.
// - KILN_ASSEMBLY is 1 if the compiler accepts GNU C's inline assembly with the keyword `__asm`.
// - KILN_COPY(to, from, bytes) is memcpy.
//
// A program may define KILN_ALIGNED and KILN_ASSEMBLY itself, for compilers that are not listed.
std::string CompilerMacros(const std::set<std::string>& used, absl::string_view code);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_
