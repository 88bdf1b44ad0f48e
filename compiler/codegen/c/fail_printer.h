// SPDX-License-Identifier: Apache-2.0
// What `fail` statements (loop::Fail) call in generated C.
#ifndef KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_

#include <string>

#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// The function that leaves the text; nothing if no statement of the functions that have been
// printed fails.
std::string FailHelper(CContext& context);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_
