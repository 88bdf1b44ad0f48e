// SPDX-License-Identifier: Apache-2.0
// Facts about all functions that must be known before the first one is printed.
#ifndef KILN_COMPILER_CODEGEN_C_ANALYSIS_H_
#define KILN_COMPILER_CODEGEN_C_ANALYSIS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/codegen/c/context.h"

namespace kiln::codegen {

// Fills `context.funcs`, the names of functions and data, and the names and uses of constants.
absl::Status Analyse(CContext& context);

// Pointer parameters of a function in order: its params, then the workspace if it is a parameter.
std::vector<loop::Buffer> PointerParams(const loop::Func& func);

// False for a function that another program defines.
bool IsDefined(const loop::Func& func);

// True if the parameter is the workspace or a pool: `uint8_t*` in every signature.
bool IsScratch(const loop::Func& func, const loop::Buffer& param);

// Types of the pointer parameters for other object files, in the order of PointerParams: "uint8_t*"
// for scratch memory, "const void*" for an input of the model that is only read, and "void*" for
// all others.
std::vector<absl::string_view> UntypedPointers(const FuncInfo& info);

// Buffers whose elements the body accesses, or whose address it passes on with an offset or as
// another type.
absl::flat_hash_set<const loop::BufferNode*> DirectlyUsed(const CContext& context,
                                                          const loop::Func& func);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_ANALYSIS_H_
