// SPDX-License-Identifier: Apache-2.0
// Macros of a generated file for alignment, sections, inlining and assembly, each in the words of the C
// compiler at hand. Pragmas of gcc and clang stand in emit.cc, and questions about an instruction beside
// its use.
#ifndef KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_
#define KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln::codegen {

// Definitions of those of the macros that are in `used` or that `code` contains:
//
// - KILN_ALIGNED(bytes) stands before a declaration. Where a compiler has no word for it, the macro is
//   empty and KILN_UNALIGNED is defined.
// - KILN_NOT_INLINED stands before a function.
// - KILN_SECTION(name) stands before a declaration.
// - KILN_ASSUME_ALIGNED(pointer, bytes) is the pointer.
// - KILN_ASSEMBLY is 1 where the compiler takes the inline assembly of GNU C, by the keyword `__asm`.
// - KILN_COPY(to, from, bytes) is memcpy.
//
// A program may define KILN_ALIGNED and KILN_ASSEMBLY itself, for compilers that the file does not know.
std::string CompilerMacros(const std::set<std::string>& used, absl::string_view code);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_COMPILER_MACROS_H_
