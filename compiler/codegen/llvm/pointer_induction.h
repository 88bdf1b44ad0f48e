// SPDX-License-Identifier: Apache-2.0
// PointerInduction: gives the loads of a register tile's rows one pointer that moves with the
// innermost loop, and constant distances from it.
//
// Loop strength reduction prefers to address them by a base and the loop counter, which saves one
// addition per iteration. But a multiply-add with a memory operand is one operation of an x86 front
// end only if its address has no index register. The pointer passes through empty inline assembly,
// so that later passes do not see how it moves.
#ifndef KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_
#define KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_

#include "llvm/IR/PassManager.h"

namespace kiln::codegen {

struct PointerInductionPass : llvm::PassInfoMixin<PointerInductionPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_POINTER_INDUCTION_H_
