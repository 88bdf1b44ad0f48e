// SPDX-License-Identifier: Apache-2.0
// For tests of the arithmetic that replaces missing instructions.
#ifndef KILN_COMPILER_CODEGEN_LLVM_EMIT_H_
#define KILN_COMPILER_CODEGEN_LLVM_EMIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/target_machine.h"

namespace kiln::codegen {

// EmitObject for a machine that has only the instructions in `traits`.
absl::StatusOr<std::string> EmitObjectWithTraits(const loop::LoopProgram& program,
                                                 const Target& target, const LlvmOptions& options,
                                                 const MachineTraits& traits);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_EMIT_H_
