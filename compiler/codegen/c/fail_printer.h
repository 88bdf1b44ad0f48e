// SPDX-License-Identifier: Apache-2.0
// The helper that `fail` statements (loop::Fail) call in generated C.
#ifndef KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_
#define KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_

#include <string>

#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// Returns the function that records the text of an error. Empty if no printed function has a `fail`
// statement.
std::string FailHelper(CContext& context);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_FAIL_PRINTER_H_
