// SPDX-License-Identifier: Apache-2.0
// Runs a LoopProgram in this process, for tests and benchmarks.
//
//   KILN_ASSIGN_OR_RETURN(std::unique_ptr<Jit> jit, Jit::Create(program, Target::Host()));
//   using Add = int32_t (*)(void*, void*, void*);
//   auto add = reinterpret_cast<Add>(jit->Lookup("tvmgen_default_fused_add"));
//   int32_t status = add(a, b, out);
//
// The machine code is that of EmitObject for the same target.
#ifndef KILN_COMPILER_CODEGEN_LLVM_JIT_H_
#define KILN_COMPILER_CODEGEN_LLVM_JIT_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/loop/loop.h"
#include "compiler/target/target.h"

namespace kiln::codegen {

class Jit {
 public:
  // Addresses of functions that replace those of the runtime, by name. For functions of
  // c_backend_api.h that a program needs and the table lacks, Kiln has its own: launches run all
  // tasks on the calling thread, workspace comes from the heap.
  using Symbols = std::map<std::string, void*>;

  // `target` must be this machine, or an older one of its kind. The program may be destroyed after
  // the call.
  static absl::StatusOr<std::unique_ptr<Jit>> Create(const loop::LoopProgram& program,
                                                     const Target& target,
                                                     const Symbols& symbols = {},
                                                     const LlvmOptions& options = {});
  // `object` must be the output of EmitObject: position independent and without loader pointers.
  static absl::StatusOr<std::unique_ptr<Jit>> FromObject(absl::string_view object,
                                                         const Target& target,
                                                         const Symbols& symbols = {});
  ~Jit();

  // The address of an exported function or datum, valid as long as the Jit, or null.
  void* Lookup(const std::string& name) const;

  // Calls an unpacked function with `args`, which include the workspace if it takes one. Internal
  // if the function does not exist, has more than kMaxRunArgs parameters, or returns a status other
  // than 0.
  static constexpr int kMaxRunArgs = 16;
  absl::Status Run(const std::string& name, absl::Span<void* const> args) const;

 private:
  struct Impl;
  explicit Jit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The text of the last failing function on this thread, if it called the Jit's own
// TVMAPISetLastError.
std::string JitLastError();

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_JIT_H_
