// SPDX-License-Identifier: Apache-2.0
// The square root for machines that lack the instruction.
#ifndef KILN_COMPILER_CODEGEN_LLVM_SOFTWARE_SQRT_H_
#define KILN_COMPILER_CODEGEN_LLVM_SOFTWARE_SQRT_H_

#include "compiler/base/dtype.h"
#include "compiler/codegen/llvm/module_context.h"

namespace kiln::codegen {

// An internal function of the module, float(float) or double(double), correctly rounded to nearest
// even. The first call defines it.
llvm::Function* SoftwareSqrt(ModuleContext& context, DType dtype);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_SOFTWARE_SQRT_H_
