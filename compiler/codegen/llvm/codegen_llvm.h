// SPDX-License-Identifier: Apache-2.0
// From a LoopProgram to machine code, through LLVM.
//
//   KILN_ASSIGN_OR_RETURN(std::string object,
//                         EmitObject(program, target, {.module_name = "my_mod"}));
//   KILN_ASSIGN_OR_RETURN(std::string library, LinkSharedObject(object, "my_mod.so"));
//
// Use codegen/c instead where sources are wanted, or where LLVM is not at hand; both give the same
// results. To run a program in this process, see jit.h. The program must pass VerifyProgram. Equal
// programs, targets and options give equal bytes.
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
  std::string module_name = "kiln";  // in the symbol table, as the source file

  // How the runtime's functions are reached. False: by name, for the linker. True: through
  // variables `__TVMBackendParallelLaunch`, … that the C++ runtime fills in when it loads the
  // shared object, which then needs no library.
  bool loader_pointers = false;
  // Names an exported variable through which the runtime tells the code which module it is; calls
  // by name hand it on. Without, they hand on null.
  std::string module_context = {};

  bool position_independent = true;
  // By Func::cpu_variant; the target is what the rest of the program is for.
  std::vector<Target> cpu_variants = {};
  int opt_level = 2;  // 0 … 3
  // Code that is small rather than fast: tiles of dots with other numbers of steps share a loop.
  bool small_code = false;
  // Contents of the section KILN_NOTE_SECTION (kiln/library_notes.h); empty: there is none.
  std::string notes = {};
};

// A relocatable object of the target's format (ELF for every target with a name). Symbols that it
// leaves undefined: the functions of c_backend_api.h that the program needs, functions and data
// that DataDefs name and the program does not define, and the compiler's runtime (memcpy,
// __aeabi_fadd, …) where the processor lacks the instructions; no mathematics library.
// InvalidArgument if LLVM has no code generator for the target; Unimplemented for operations that
// the target has no instructions for.
absl::StatusOr<std::string> EmitObject(const loop::LoopProgram& program, const Target& target,
                                       const LlvmOptions& options = {});

// The same as LLVM assembly language, after optimization, and as the target's assembly language.
absl::StatusOr<std::string> EmitLlvmText(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options = {});
absl::StatusOr<std::string> EmitAssembly(const loop::LoopProgram& program, const Target& target,
                                         const LlvmOptions& options = {});

// An ELF shared object of one relocatable object, by LLD in this process. It names no library as
// needed and holds no path and no time. Safe to call from several threads, one of which works at a
// time.
absl::StatusOr<std::string> LinkSharedObject(std::string object, const std::string& soname);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_CODEGEN_LLVM_H_
