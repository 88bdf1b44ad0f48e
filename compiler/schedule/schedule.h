// SPDX-License-Identifier: Apache-2.0
// Schedules: loops for a Kernel's stages, chosen for a Target. This is where the speed is made.
//
//   KILN_ASSIGN_OR_RETURN(Scheduled scheduled, ScheduleKernel(kernel, target, {}));
//
// Few families cover everything; each has a file:
//   pointwise.cc    everything without a reduction: one fused nest, vectorized innermost, parallel
//                   outermost
//   reduction.cc    softmax, mean, layer norm, pooling, depthwise convolution: vectorized along the
//                   contiguous axis
//   contraction.cc  sums of products (convolutions, dense, batch_matmul): weights packed, a
//                   register tile, a fused epilogue
//   ranks.cc        top-k and sorting: selection by counting, then merging
// naive.cc is the plain loop nest for every stage, the reference of every test.
//
// docs/schedules.md explains them.
#ifndef KILN_COMPILER_SCHEDULE_SCHEDULE_H_
#define KILN_COMPILER_SCHEDULE_SCHEDULE_H_

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
#include "compiler/schedule/tensor_memory.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"

namespace kiln {

struct ScheduleOptions {
  // Contractions that it has measurements of are computed as these say; null: none.
  std::shared_ptr<const Tuning> tuning;
  // How many other choices Scheduled::contraction lists.
  size_t max_candidates = 0;
  bool naive = false;  // every stage a plain serial loop nest: the reference
  // Convolutions 3 × 3 by fewer multiplications, where that is faster: sums in another order, whose
  // error is a few times as large.
  bool winograd = true;
  // Products of float32 by constants as products of bfloat16, where the target has an instruction for
  // them: both factors are rounded to 8 bits, sums are float32.
  bool bfloat16_products = false;
  Optimize optimize = Optimize::kSpeed;
  // Of the loop passes over kernels: what is left out, verified and looked at.
  loop::LoopPassRun passes = {};
};

// How a kernel's contraction is computed.
struct ScheduledContraction {
  // What the choice depends on, as text: the key of Tuning.
  std::string problem;
  ContractionChoice choice;
  bool tuned = false;  // the choice is one of ScheduleOptions::tuning
  // Others that are worth measuring, those first that the model finds best.
  std::vector<ContractionChoice> candidates;
};

// What a description says behind an instruction of bfloat16 that multiplies parts of float32, which have
// all of its bits.
inline constexpr absl::string_view kOfFloat32 = " of float32";

struct Scheduled {
  // Its parameters are the kernel's inputs and outputs, in the place of slices their wholes, each
  // once. Convention and kind are the caller's to set.
  loop::Func func;
  std::vector<loop::Constant>
      constants;  // of the kernel, re-packed where the schedule wants it; only those that are read
  std::string description;  // "contraction 14x2x16 rows outside packed", and "tuned"
  std::optional<ScheduledContraction> contraction;
  // Pairs (input, output) of the function where the output may be written over the input: every
  // output element is stored after the last read of it.
  std::vector<std::pair<int, int>> in_place;
};

// InvalidArgument, naming the tuning's file and entry, if it has a choice that does not fit. `memory`
// is that of the model which the kernel is of; nothing where it is not known.
absl::StatusOr<Scheduled> ScheduleKernel(const loop::Kernel& kernel, const Target& target,
                                         const ScheduleOptions& options,
                                         const std::optional<TensorMemory>& memory = {});

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_SCHEDULE_H_
