// SPDX-License-Identifier: Apache-2.0
// A whole LoopProgram as an LLVM module, not yet optimized.
#ifndef KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_
#define KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_

#include "absl/status/status.h"
#include "compiler/codegen/llvm/module_context.h"

namespace kiln::codegen {

// Fills `context.module` from `context.program`.
absl::Status EmitModule(ModuleContext& context);

// The parts of it. All symbols are declared before anything is defined, so that everything may
// refer to everything.
void DeclareData(ModuleContext& context);  // emit_data.cc
void EmitConstants(ModuleContext& context);
void DefineData(ModuleContext& context);
void DeclareGetters(ModuleContext& context);  // emit_packed.cc
void DefineGetters(ModuleContext& context);
void DeclareCpuChoice(ModuleContext& context);  // emit_cpu_choice.cc
void DefineCpuChoice(ModuleContext& context);
void EmitPackedEntry(ModuleContext& context, const FuncSymbols& symbols);
// An i64: 0 if Linux lets the process use the registers of AMX, for which it asks once.
llvm::Value* CallRequestMatrices(ModuleContext& context,
                                 llvm::IRBuilderBase& builder);  // emit_matrices.cc

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_EMIT_MODULE_H_
