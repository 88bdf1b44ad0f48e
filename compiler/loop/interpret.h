// SPDX-License-Identifier: Apache-2.0
// The interpreter: slow and obvious, the reference that every code generator is compared with.
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
  // `program` must outlive the interpreter. Both scalar and vectorized programs run; parallel loops
  // and launches run serially, a launch as two tasks where it allows two, so that the splitting is
  // run as well.
  explicit Interpreter(const LoopProgram& program);
  ~Interpreter();

  // Runs a function on dense memory of the caller's. FailedPrecondition, with the text, for a
  // `fail`. OutOfRange, with the buffer and the index, for an access outside of its buffer; a
  // workspace parameter is taken by the interpreter itself if `args` leaves it out.
  absl::Status Run(absl::string_view function, absl::Span<void* const> args);

  // What a program with CPU variants finds the CPU to be: the words that its CpuChoice decides by.
  // Without, all bits are set.
  void SetCpuWords(absl::Span<const uint32_t> words);

  // All runs from now on may execute so many operations together; each lane of a vector counts, and
  // memory by its size. The run that exceeds it ends with ResourceExhausted, and so does every
  // later one.
  void SetMaxWork(int64_t operations);
  // What is left of that; negative once it is exceeded.
  int64_t work_left() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_INTERPRET_H_
