// SPDX-License-Identifier: Apache-2.0
// The rows of every architecture, for compiler/target/instructions.cc.
#ifndef KILN_COMPILER_TARGET_INSTRUCTIONS_ROWS_H_
#define KILN_COMPILER_TARGET_INSTRUCTIONS_ROWS_H_

#include <vector>

#include "compiler/target/instructions.h"

namespace kiln::instructions {

std::vector<DotInstruction> X86();
std::vector<DotInstruction> AArch64();
std::vector<DotInstruction> ArmM();
std::vector<DotInstruction> RiscV();

inline const DType kBF16 = DType::BFloat();

}  // namespace kiln::instructions

#endif  // KILN_COMPILER_TARGET_INSTRUCTIONS_ROWS_H_
