// SPDX-License-Identifier: Apache-2.0
// The loop passes in their order: the table in pipeline.cc, and what runs it.
//
//   KILN_RETURN_IF_ERROR(
//       RunLoopPasses(LoopPhase::kCode, {}, {.vector_bits = AllOf(256)}, program));
//
// The passes run in three phases: over each kernel as it is scheduled, over the whole program, and
// over the program that a code generator or the interpreter is given. Properties, which
// pass_machine.h verifies, are those that the code behind relies upon.
#ifndef KILN_COMPILER_LOOP_PIPELINE_H_
#define KILN_COMPILER_LOOP_PIPELINE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/base/pass_machine.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/partition.h"
#include "compiler/loop/small_loops.h"

namespace kiln::loop {

enum class LoopPhase { kKernel, kProgram, kCode };

enum LoopProperty : Properties {
  kWellFormed = 1,          // VerifyProgram accepts it
  kFlat = 2,                // every access has one index, in elements, and no buffer is a slice
  kSimplified = 4,          // no code is left that never runs
  kNoUnrolledLoops = 8,     // unrolled loops are written out
  kShared = 16,             // no two functions are alike but for their constants
  kNoVectorizedLoops = 32,  // vectorized loops are vectors, or serial
  kNoParallelLoops = 64,    // parallel loops are tasks, or serial
  kSpelledDots = 128,       // what dots are left, LoopPassContext::keeps_dot accepts
  kInlined = 256,           // no inner function only calls another, but where operators are kept
};

struct LoopPassContext {
  // Of the machine that a function is for. 0: no vectors.
  std::function<int(const Func&)> vector_bits;
  int threads = 1;
  // Whether the code generator spells a dot of one sum; null: all of them.
  bool (*keeps_dot)(const Dot&) = nullptr;
  // Whether the code generator spells the store of a vector other than a dot; null: all of them.
  bool (*keeps_store)(const Store&) = nullptr;
  // Of partition-loops.
  PartitionLimits partition = {};
  // Of join-loops and unroll-short-loops.
  SmallLoops small_loops = {};
  // Of share-functions: operators that differ in numbers get one function, too, and so do those that
  // differ in the parts of tensors that they access, or in the extents of these.
  bool shares_numbers = false, shares_parts = false, shares_extents = false;
  // Of inline-calls: every operator keeps a function of its own, by which an emulator tells them
  // apart.
  bool keeps_operators = false;
};

using LoopPass = PassOf<LoopProgram, LoopPassContext>;
using LoopPassRun = PassRun<LoopProgram>;

// A LoopPassContext::vector_bits that is the same for all functions.
std::function<int(const Func&)> AllOf(int vector_bits);

absl::Span<const LoopPass> AllLoopPasses();
absl::Span<const PropertyOf<LoopProgram, LoopPassContext>> LoopProperties();
absl::Span<const LoopPass> PassesOf(LoopPhase phase);

// Runs the passes of a phase over the program, which has what the phases before give. Internal,
// naming the pass, where a property that a pass claims does not hold.
absl::Status RunLoopPasses(LoopPhase phase, const LoopPassRun& run, const LoopPassContext& context,
                           LoopProgram& program);

// The passes of the phase behind the pass `last`, by name; to see what it leaves.
std::vector<std::string> PassesBehind(LoopPhase phase, absl::string_view last);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PIPELINE_H_
