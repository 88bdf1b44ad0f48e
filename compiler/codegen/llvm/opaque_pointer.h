// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_CODEGEN_LLVM_OPAQUE_POINTER_H_
#define KILN_COMPILER_CODEGEN_LLVM_OPAQUE_POINTER_H_

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace kiln::codegen {

// Passes the pointer through empty inline assembly, which hides its computation from all passes.
inline llvm::Value* OpaquePointer(llvm::IRBuilder<>& builder, llvm::Value* pointer) {
  auto* type = llvm::FunctionType::get(pointer->getType(), {pointer->getType()}, false);
  return builder.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false),
                            {pointer});
}

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_OPAQUE_POINTER_H_
