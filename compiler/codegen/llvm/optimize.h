// SPDX-License-Identifier: Apache-2.0
// The optimization pipeline over a module.
#ifndef KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_
#define KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_

#include "compiler/target/target.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln::codegen {

// Only cleans up scalars. Schedules have already tiled, unrolled and vectorized; LLVM's own passes
// for that would undo their work and take compile time. If `opt_level` is 0, nothing is done.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level,
              const Target& target);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_OPTIMIZE_H_
