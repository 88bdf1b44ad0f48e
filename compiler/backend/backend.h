// SPDX-License-Identifier: Apache-2.0
// Interface to the code generators. A build without LLVM has only the one for C.
#ifndef KILN_COMPILER_BACKEND_BACKEND_H_
#define KILN_COMPILER_BACKEND_BACKEND_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/artifacts.h"
#include "compiler/loop/loop.h"
#include "compiler/options/options.h"

namespace kiln {

// True if this build includes the code generator.
bool HasCodegen(Codegen codegen);

// Parts of a shared object besides the code of its program.
struct LibraryParts {
  std::string notes;       // the ELF notes, see metadata/library_notes.h; may be empty
  bool more_code = false;  // the program is linked with further sources or objects
};

// Emits <module>.so, <module>.o or <module>.c, depending on the options. `parts.more_code` turns a
// shared object into an object. InvalidArgument if the options request LLVM and this build lacks
// it.
absl::StatusOr<Artifacts> EmitCode(const loop::LoopProgram& program, const CompileOptions& options,
                                   const LibraryParts& parts = {});

// The same as text. `form` is "c", "llvm" or "asm".
absl::StatusOr<std::string> EmitCodeText(const loop::LoopProgram& program,
                                         const CompileOptions& options, absl::string_view form);

// Contents of the file that KILN_CONSTANTS_FILE names when the generated C is compiled
// (compiler/codegen/c/codegen_c.h). Empty if the C reads no such file.
std::string ConstantsFileOf(const loop::LoopProgram& program, const CompileOptions& options);

// Target of code that belongs to no CPU variant: the target of the options or, if there are
// variants, one whose code runs on every CPU of their architecture.
Target CodeTarget(const CompileOptions& options);

// The program as the C code generator and the interpreter take it: tasks are outlined. It has
// vectors only if C has intrinsics for those of the target.
absl::StatusOr<loop::LoopProgram> CProgram(const loop::LoopProgram& program,
                                           const CompileOptions& options);
// The program as the LLVM code generator takes it, vectorized if the target has vectors.
absl::StatusOr<loop::LoopProgram> VectorProgram(const loop::LoopProgram& program,
                                                const CompileOptions& options);
// CProgram or VectorProgram, depending on the code generator of the options.
absl::StatusOr<loop::LoopProgram> CodeProgram(const loop::LoopProgram& program,
                                              const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_BACKEND_BACKEND_H_
