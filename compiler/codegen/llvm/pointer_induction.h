// SPDX-License-Identifier: Apache-2.0
// PointerInduction: gives the loads of a register tile's rows one pointer that moves with the
// innermost loop, and constant distances from it.
//
// Loop strength reduction likes to address them by base and loop counter instead, which saves one
// addition in an iteration. But a multiply-add with a memory operand stays one operation of an
// x86 front end only if its address has no index register. The pointer is passed through an empty
// piece of assembly, so that nothing later sees how it moves.
#ifndef KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_
#define KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_

#include "llvm/IR/PassManager.h"

namespace kiln::codegen {

struct PointerInductionPass : llvm::PassInfoMixin<PointerInductionPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_
