// SPDX-License-Identifier: Apache-2.0
// Compiles a LoopProgram to machine code, through LLVM.
//
//   KILN_ASSIGN_OR_RETURN(std::string object,
//                         EmitObject(program, target, {.module_name = "my_mod"}));
//   KILN_ASSIGN_OR_RETURN(std::string library, LinkSharedObject(object, "my_mod.so"));
//
// Use codegen/c if sources are needed or LLVM is not available; both compute the same results. To
// run a program in this process, see jit.h. The program must pass VerifyProgram. Equal programs,
// targets and options give equal bytes.
#ifndef KILN_COMPILER_CODEGEN_LLVM_CODEGEN_LLVM_H_
#define KILN_COMPILER_CODEGEN_LLVM_CODEGEN_LLVM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"
#include "compiler/target/target.h"

namespace kiln::codegen {

struct LlvmOptions {
  std::string module_name = "kiln";  // source file in the symbol table

  // False: the linker resolves the runtime's functions by name. True: they are called through
  // variables `__TVMBackendParallelLaunch`, … that the C++ runtime sets when it loads the shared
  // object, which then needs no library.
  bool loader_pointers = false;
  // Name of an exported variable in which the runtime stores the handle of the module. Calls by
  // name pass it on. If empty, they pass null.
  std::string module_context = {};

  bool position_independent = true;
  // The machines of Func::target 1 and up; target 0 is `target`.
  std::vector<Target> cpu_variants = {};
  int opt_level = 2;  // 0 … 3
  // Prefer small to fast code: tiles of dots share a loop even if their numbers of steps differ.
  bool small_code = false;
  // Contents of the section KILN_NOTE_SECTION (kiln/library_notes.h); no section if empty.
  std::string notes = {};
};

// Returns a relocatable object in the target's format (ELF for every named target). It leaves these
// symbols undefined: functions of c_backend_api.h that the program needs, functions and data that
// DataDefs refer to and the program does not define, and functions of the compiler's runtime
// (memcpy, __aeabi_fadd, …) if the processor lacks the instructions. It needs no mathematics
// library. InvalidArgument if LLVM has no code generator for the target. Unimplemented for
// operations that the target has no instructions for.
absl::StatusOr<std::string> EmitObject(const loop::LoopProgram& program, const Target& target,
                                       const LlvmOptions& options = {});

// The same as text: LLVM's assembly language after optimization, and the target's assembly
// language.
absl::StatusOr<std::string> EmitLlvmText(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options = {});
absl::StatusOr<std::string> EmitAssembly(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options = {});

// Links one relocatable object to an ELF shared object, by LLD in this process. The result depends
// on no library, and contains no path and no time. Safe to call from several threads; calls run one
// at a time.
absl::StatusOr<std::string> LinkSharedObject(std::string object, const std::string& soname);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_CODEGEN_LLVM_H_
