// SPDX-License-Identifier: Apache-2.0
// Emits a whole LoopProgram as an LLVM module that is not yet optimized.
#ifndef KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_
#define KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_

#include "absl/status/status.h"
#include "compiler/codegen/llvm/module_context.h"

namespace kiln::codegen {

// Fills `context.module` from `context.program`.
absl::Status EmitModule(ModuleContext& context);

// The steps of EmitModule. All symbols are declared before the first definition, so that
// definitions may refer to any of them.
void DeclareData(ModuleContext& context);  // emit_data.cc
void EmitConstants(ModuleContext& context);
void DefineData(ModuleContext& context);
void DeclareGetters(ModuleContext& context);  // emit_packed.cc
void DefineGetters(ModuleContext& context);
void DeclareCpuChoice(ModuleContext& context);  // emit_cpu_choice.cc
void DefineCpuChoice(ModuleContext& context);
void EmitPackedEntry(ModuleContext& context, const FuncSymbols& symbols);
// Returns an i64 that is 0 if Linux lets the process use the registers of AMX. The process requests
// them once.
llvm::Value* CallRequestMatrices(ModuleContext& context,
                                 llvm::IRBuilderBase& builder);  // emit_matrices.cc

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_
