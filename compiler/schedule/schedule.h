// SPDX-License-Identifier: Apache-2.0
// Schedules: loops for a Kernel's stages, optimized for a Target.
//
//   KILN_ASSIGN_OR_RETURN(Scheduled scheduled, ScheduleKernel(kernel, target, {}));
//
// A few families cover everything. Each has a file:
//   pointwise.cc    everything without a reduction: one fused nest, vectorized innermost, parallel
//                   outermost
//   reduction.cc    softmax, mean, layer norm, pooling, depthwise convolution: vectorized along the
//                   contiguous axis
//   contraction.cc  sums of products (convolutions, dense, batch_matmul): weights packed, a
//                   register tile, a fused epilogue
//   ranks.cc        top-k and sorting: selection by counting, then merging
// naive.cc has the plain loop nest for every stage, which is the reference of every test.
//
// docs/schedules.md explains them.
#ifndef KILN_COMPILER_SCHEDULE_SCHEDULE_H_
#define KILN_COMPILER_SCHEDULE_SCHEDULE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/pipeline.h"
#include "compiler/loop/stage.h"
#include "compiler/schedule/code_shape.h"
#include "compiler/schedule/contraction_plan.h"
#include "compiler/schedule/tensor_memory.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"

namespace kiln {

struct ScheduleOptions {
  // Measurements of contractions, which override the model's choices; null if there are none.
  std::shared_ptr<const Tuning> tuning;
  // Maximum number of other choices that Scheduled::contraction lists.
  size_t max_candidates = 0;
  bool naive = false;  // every stage becomes a plain serial loop nest: the reference
  // Computes 3 × 3 convolutions with fewer multiplications if that is faster. Sums are added in
  // another order, and their error is a few times as large.
  bool winograd = true;
  // Computes products of float32 by constants as products of bfloat16 if the target has an
  // instruction for them. Both factors are rounded to 8 bits; sums are float32.
  bool bfloat16_products = false;
  Optimize optimize = Optimize::kSpeed;
  // Replaces the plan of each contraction that is computed directly. For tests: all plans give the
  // same bits. Plans that do not fit are errors.
  std::function<schedule::ContractionPlan(const schedule::ContractionPlan&)> replan = {};
  // Settings of the loop passes over kernels: disabled passes, verification, and a callback.
  loop::LoopPassRun passes = {};
};

// Describes how a kernel's contraction is computed.
struct ScheduledContraction {
  // All inputs of the choice as text. It is the key of TunedTarget::contractions.
  std::string problem;
  ContractionChoice choice;
  bool tuned = false;  // the choice is one of ScheduleOptions::tuning
  // Other choices that are worth measuring, the model's best ones first.
  std::vector<ContractionChoice> candidates;
};

// Part of a description. It follows the name of a bfloat16 instruction that multiplies parts of
// float32 factors. The parts have all bits of the factors.
inline constexpr absl::string_view kOfFloat32 = " of float32";

struct Scheduled {
  // The parameters are the kernel's inputs and outputs, each once; slices are replaced by their
  // whole buffers. The caller sets convention and kind.
  loop::Func func;
  // Constants that the function reads, repacked as the schedule needs them.
  std::vector<loop::Constant> constants;
  std::string description;  // "contraction 14x2x16 rows outside packed", possibly with "tuned"
  // Lines of text: the problem and the plan of each contraction, and the order of each other sum.
  std::vector<std::string> plans;
  std::optional<ScheduledContraction> contraction;
  // Pairs (input, output) of the function for which the output may be written over the input. Every
  // output element is stored after the last read of the input element in its place.
  std::vector<std::pair<int, int>> in_place;
};

// Schedules a kernel. Returns InvalidArgument, naming the tuning's file and entry, if the tuning
// has a choice that does not fit. `memory` describes the model that the kernel belongs to; nothing
// if it is not known.
absl::StatusOr<Scheduled> ScheduleKernel(const loop::Kernel& kernel, const Target& target,
                                         const ScheduleOptions& options,
                                         const std::optional<TensorMemory>& memory = {});

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_SCHEDULE_H_
