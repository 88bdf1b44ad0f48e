// SPDX-License-Identifier: Apache-2.0
// Chooses how a contraction is computed: by an analytic model, or by measurements.
#ifndef KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_
#define KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/tile_shape.h"
#include "compiler/schedule/tuning.h"
#include "compiler/schedule/winograd_plan.h"

namespace kiln::schedule {

// All inputs of the choice.
struct ContractionProblem {
  // Key of the problem. Contractions with the same text have the same choices, whatever model they
  // belong to. For example:
  //   float32 rows 54@3584 54@64 columns 64@1 reduce 3@3584,12288 192@1,64 constant epilogue 4 3x3
  // Extents have strides in elements: of rows in the row factor, of columns in the column factor,
  // and of batch and reduction in both factors. `constant`: the column factor is a constant.
  // `epilogue`: its cost; `stored` if the sums are stored instead. `3x3`: Winograd's filtering can
  // compute it.
  std::string text;
  TileProblem tile;
  std::optional<WinogradProblem> winograd;
};

// The problem of a contraction that MergeContraction has made of stages[which] of the kernel;
// nullopt if a factor or an output has no strides.
std::optional<ContractionProblem> AsContractionProblem(const TiledContraction& contraction,
                                                       const loop::Kernel& kernel, size_t which,
                                                       const Context& context);

// Returns the choice of the analytic model.
ContractionChoice ChooseContraction(const ContractionProblem& problem, const Target& target);

// Returns up to `limit` choices that are worth measuring besides the model's own, which is not
// listed. Each kind of choice contributes in turn, its best choices first. No choice is listed
// twice.
std::vector<ContractionChoice> ListContractionChoices(const ContractionProblem& problem,
                                                      const Target& target, size_t limit);

// Returns InvalidArgument, with the field, the value found and the value wanted, if `choice` does
// not fit the problem.
absl::Status CheckChoice(const ContractionProblem& problem, const ContractionChoice& choice,
                         const Target& target);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_
