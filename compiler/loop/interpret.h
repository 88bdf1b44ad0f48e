// SPDX-License-Identifier: Apache-2.0
// Interpreter: slow and obvious, the reference that every code generator is compared with.
//
//   Interpreter interpreter(program);
//   // One per parameter, then the workspace if the function has one.
//   std::vector<void*> args = {a, b, out};
//   KILN_RETURN_IF_ERROR(interpreter.Run("tvmgen_default_fused_add", args));
#ifndef KILN_COMPILER_LOOP_INTERPRET_H_
#define KILN_COMPILER_LOOP_INTERPRET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

class Interpreter {
 public:
  // `program` must outlive the interpreter. Both scalar and vectorized programs run. Parallel loops
  // and launches run serially. A launch runs as two tasks if it allows two, so that the splitting
  // is tested.
  explicit Interpreter(const LoopProgram& program);
  ~Interpreter();

  // Runs a function on dense memory of the caller. If `args` lacks the workspace, the interpreter
  // allocates it. Returns FailedPrecondition, with the text, for a `fail`, and OutOfRange, with the
  // buffer and the index, for an access outside of its buffer.
  absl::Status Run(absl::string_view function, absl::Span<void* const> args);

  // Sets the words by which the CpuChoice of a program with CPU variants decides. All bits are set
  // by default.
  void SetCpuWords(absl::Span<const uint32_t> words);

  // Limits the operations of all later runs together. Each lane of a vector counts, and memory
  // counts by its size. The run that exceeds the limit ends with ResourceExhausted, and so does
  // every later one.
  void SetMaxWork(int64_t operations);
  // Operations that are left; negative once the limit is exceeded.
  int64_t work_left() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_INTERPRET_H_
