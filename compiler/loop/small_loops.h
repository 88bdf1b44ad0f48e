// SPDX-License-Identifier: Apache-2.0
// What becomes of the loops that schedules leave for a small machine: passes as those of passes.h, with
// their limits.
//
//   func.body = JoinLoops(func.body);
//   UnrollShortLoops(program, {.operations = 80, .saved_by_operation = 1.0 / 20000});
#ifndef KILN_COMPILER_LOOP_SMALL_LOOPS_H_
#define KILN_COMPILER_LOOP_SMALL_LOOPS_H_

#include <cstdint>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// What is made of the loops that schedules leave for a small machine.
struct SmallLoops {
  bool join = false;
  // Loads, stores and steps of arithmetic, of a loop that is written out or of the iterations that
  // become one; elements of local buffers at fixed places are registers. 0: no loop is.
  int64_t operations = 0;
  // What part of the program's work must be saved for each operation that the code grows by.
  double saved_by_operation = 0;
  bool floats = true;  // operations of floats are instructions, not calls of a library
};

// Makes one loop of a serial loop and the loop in it, where that goes through neighboring elements
// and the next iteration of the outer one goes on behind them: one counter, and a copy is one piece
// of memory. Needs flat indices; what is changed is simplified.
Stmt JoinLoops(const Stmt& s);

// Writes out innermost loops of a few operations, and several iterations of longer ones as one, where
// the counters and branches that this saves are enough of the program, whose work is counted with the
// iterations of loops and the calls of functions. gcc leaves that to its -O3, and the LLVM code
// generator runs no pass for it. Loops of dots stay as they are, and so do those that copy or fill
// memory, of which code generators and compilers make calls or words. Needs flat indices; what is
// changed is simplified.
void UnrollShortLoops(LoopProgram& program, const SmallLoops& limits);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SMALL_LOOPS_H_
