// SPDX-License-Identifier: Apache-2.0
// The optimization pipeline over a module.
#ifndef KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_
#define KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_

#include "compiler/target/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::codegen {

// Scalar clean-up only: the schedules have tiled, unrolled and vectorized already, and LLVM's own
// passes for that would undo their work and cost compile time. `opt_level` 0 does nothing.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
              const Target& target);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_
