// SPDX-License-Identifier: Apache-2.0
// The loop passes in their order, and the functions that run them. The table is in pipeline.cc.
//
//   KILN_RETURN_IF_ERROR(
//       RunLoopPasses(LoopPhase::kCode, {}, {.vector_bits = AllOf(256)}, program));
//
// The passes run in three phases: over each kernel as it is scheduled, over the whole program, and
// over the program for a code generator or the interpreter. Later code relies on the properties,
// which pass_machine.h verifies.
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
  kFlat = 2,                // flat accesses: one index, in elements, and no slices
  kSimplified = 4,          // no code that never runs is left
  kNoUnrolledLoops = 8,     // unrolled loops: written out
  kShared = 16,             // functions that differ only in their constants are shared
  kNoVectorizedLoops = 32,  // vectorized loops: vectors, or serial
  kNoParallelLoops = 64,    // parallel loops: tasks, or serial
  kSpelledDots = 128,       // LoopPassContext::keeps_dot accepts all dots that are left
  kInlined = 256,           // without keeps_operators: no internal function only calls another one
};

struct LoopPassContext {
  // Width of the vectors of the machine that a function is for; 0: no vectors.
  std::function<int(const Func&)> vector_bits;
  int threads = 1;
  // True if the code generator spells a dot with one sum; null: it spells all.
  bool (*keeps_dot)(const Dot&) = nullptr;
  // True if the code generator spells the store of a vector other than a dot; null: it spells all.
  bool (*keeps_store)(const Store&) = nullptr;
  // Limits of partition-loops.
  PartitionLimits partition = {};
  // Limits of join-loops and unroll-short-loops.
  SmallLoops small_loops = {};
  // Options of share-functions. Operators get one function also if they differ in numbers, in the
  // parts of tensors that they access, or in the extents of these.
  bool shares_numbers = false, shares_parts = false, shares_extents = false;
  // Option of inline-calls: every operator keeps a function of its own, by which an emulator tells
  // them apart.
  bool keeps_operators = false;
};

using LoopPass = PassOf<LoopProgram, LoopPassContext>;
using LoopPassRun = PassRun<LoopProgram>;

// Returns a LoopPassContext::vector_bits that is the same for all functions.
std::function<int(const Func&)> AllOf(int vector_bits);

absl::Span<const LoopPass> AllLoopPasses();
absl::Span<const PropertyOf<LoopProgram, LoopPassContext>> LoopProperties();
absl::Span<const LoopPass> PassesOf(LoopPhase phase);

// Runs the passes of a phase over a program that has passed the phases before. Returns Internal
// with the name of the pass if a property that a pass claims does not hold.
absl::Status RunLoopPasses(LoopPhase phase, const LoopPassRun& run, const LoopPassContext& context,
                           LoopProgram& program);

// Returns the names of the passes of the phase that run after `last`, for inspecting the result of
// `last`.
std::vector<std::string> PassesBehind(LoopPhase phase, absl::string_view last);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PIPELINE_H_
