// SPDX-License-Identifier: Apache-2.0
// NearOffsets: addresses the vector loads and stores of a block from a few pointers, by constant
// offsets that fit into the instructions.
//
// Helium's loads and stores have an offset of at most 127 elements. A window of a depthwise
// convolution reads vectors that are farther apart, and loop strength reduction keeps a pointer to
// each of them on the stack. That costs up to a load, an addition and a store per vector. Computing
// the pointer is one addition. Pointers pass through empty inline assembly, so that later passes do
// not see that they are sums.
#ifndef KILN_COMPILER_CODEGEN_LLVM_NEAR_OFFSETS_H_
#define KILN_COMPILER_CODEGEN_LLVM_NEAR_OFFSETS_H_

#include "llvm/IR/PassManager.h"

namespace kiln::codegen {

struct NearOffsetsPass : llvm::PassInfoMixin<NearOffsetsPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_NEAR_OFFSETS_H_
