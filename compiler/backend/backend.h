// SPDX-License-Identifier: Apache-2.0
// The code generators behind one door: with LLVM, or without (C only).
#ifndef KILN_COMPILER_BACKEND_BACKEND_H_
#define KILN_COMPILER_BACKEND_BACKEND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/artifacts.h"
#include "compiler/loop/loop.h"
#include "compiler/options/options.h"

namespace kiln {

// Whether the code generator is built in.
bool HasCodegen(Codegen codegen);

// Parts of a shared object besides the code of its program.
struct LibraryParts {
  std::string notes;       // metadata/library_notes.h; may be empty
  bool more_code = false;  // other sources or objects are to be linked with the program's code
};

// <module>.so, <module>.o or <module>.c, by the options; an object in the place of a shared object
// if there is more code. InvalidArgument if the options ask for LLVM and it is not built in.
absl::StatusOr<Artifacts> EmitCode(const loop::LoopProgram& program, const CompileOptions& options,
                                   const LibraryParts& parts = {});

// The same as text: "c", "llvm" or "asm".
absl::StatusOr<std::string> EmitCodeText(const loop::LoopProgram& program,
                                         const CompileOptions& options, absl::string_view form);

// What KILN_CONSTANTS_FILE of the C for the program holds (compiler/codegen/c/codegen_c.h); empty
// where it asks for none.
std::string ConstantsFileOf(const loop::LoopProgram& program, const CompileOptions& options);

// What code is for that is of no CPU variant: the target, or what runs on every CPU of it.
Target CodeTarget(const CompileOptions& options);

// The program as C is generated of it, and as the interpreter runs it: tasks outlined, and vectors
// where C has intrinsics for them.
absl::StatusOr<loop::LoopProgram> CProgram(const loop::LoopProgram& program,
                                           const CompileOptions& options);
// The program as LLVM is given it: vectorized on every machine that has vectors.
absl::StatusOr<loop::LoopProgram> VectorProgram(const loop::LoopProgram& program,
                                                const CompileOptions& options);
// The one of them that the options' code generator is given.
absl::StatusOr<loop::LoopProgram> CodeProgram(const loop::LoopProgram& program,
                                              const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_BACKEND_BACKEND_H_
