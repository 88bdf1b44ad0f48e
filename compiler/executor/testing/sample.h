// SPDX-License-Identifier: Apache-2.0
// A handwritten plan for tests of executors, which has one of everything.
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

// Returns the operator functions. They only load constants: 24 bytes in g and 8 bytes in g_1. With
// Convention::kPacked they are exported, for the graph executor.
loop::LoopProgram SampleProgram(loop::Convention convention);

// Returns the description of the module "mod".
ModuleInfo SampleInfo();

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_TESTING_SAMPLE_H_
