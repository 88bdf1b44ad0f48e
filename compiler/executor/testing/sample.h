// SPDX-License-Identifier: Apache-2.0
// For tests of executors: a plan that has one of everything, written by hand.
//
//   x (4 floats), 0 (2 × 3 int8)
//   call 0: f(x) -> t, with scratch      t in the workspace at 128, scratch at 0
//   call 1: view(t) -> v
//   call 2: g(v, 0) -> output0, in the caller's memory
//   call 3: g_1(v) -> output1
#ifndef KILN_COMPILER_EXECUTOR_TESTING_SAMPLE_H_
#define KILN_COMPILER_EXECUTOR_TESTING_SAMPLE_H_

#include "compiler/executor/describe.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"

namespace kiln {

Plan SamplePlan();

// The operator functions, empty, packed as the graph executor wants them or unpacked; and a
// constants of 24 bytes of g, of 8 bytes of g_1.
loop::LoopProgram SampleProgram(loop::Convention convention);

// Of the module "mod".
ModuleInfo SampleInfo();

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_TESTING_SAMPLE_H_
