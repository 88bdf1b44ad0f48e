// SPDX-License-Identifier: Apache-2.0
// Prints constants: small ones element by element, large ones as bytes, which C compilers read in a
// tenth of the time and memory.
#ifndef KILN_COMPILER_CODEGEN_C_CONSTANT_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_CONSTANT_PRINTER_H_

#include <string>

#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// Name of the array with the constant's elements. `name` is at file scope.
std::string ConstantArray(const CContext& context, const loop::Constant& constant,
                          const std::string& name);

// Prints one array per constant that is used.
void PrintConstants(CContext& context, std::string* out);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_CONSTANT_PRINTER_H_
