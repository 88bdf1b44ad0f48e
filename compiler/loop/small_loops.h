// SPDX-License-Identifier: Apache-2.0
// Passes like those of passes.h that improve the small loops which schedules leave for a small
// machine, and their limits.
//
//   func.body = JoinLoops(func.body);
//   UnrollShortLoops(program, {.operations = 80, .saved_by_operation = 1.0 / 20000});
#ifndef KILN_COMPILER_LOOP_SMALL_LOOPS_H_
#define KILN_COMPILER_LOOP_SMALL_LOOPS_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Options for small loops.
struct SmallLoops {
  bool join = false;
  // Maximum size of a loop that is written out, or of the iterations that become one, in loads,
  // stores and steps of arithmetic. Elements of local buffers at fixed places are registers and
  // count nothing. 0: no loop is changed.
  int64_t operations = 0;
  // Part of the program's work that must be saved for each operation by which the code grows.
  double saved_by_operation = 0;
  bool floats = true;  // operations of floats are instructions, not library calls
};

// Joins a serial loop and the loop in it if the inner loop steps through neighboring elements and
// the next iteration of the outer loop continues after them. The result needs one counter, and a
// copy becomes one piece of memory. Needs flat indices. Changed code is simplified.
Stmt JoinLoops(const Stmt& s);

// Writes out innermost loops of a few operations, and joins several iterations of longer loops into
// one. The counters and branches that this saves must be a sufficient part of the program's work.
// Work is counted with the iterations of loops and the calls of functions. gcc does this only at
// -O3, and the LLVM code generator runs no pass for it. Loops of dots stay as they are, and so do
// loops that copy or fill memory, because code generators and compilers turn those into calls or
// words. Needs flat indices. Changed code is simplified.
void UnrollShortLoops(LoopProgram& program, const SmallLoops& limits);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SMALL_LOOPS_H_
