// SPDX-License-Identifier: Apache-2.0
// Which of its ways a contraction is computed: by the analytic model, or as it was measured.
#ifndef KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_
#define KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/tile_shape.h"
#include "compiler/schedule/tuning.h"
#include "compiler/schedule/winograd_plan.h"

namespace kiln::schedule {

// All that the choice depends on.
struct ContractionProblem {
  // The same for contractions that have the same choices, whatever model they are from:
  //   float32 rows 54@3584 54@64 columns 64@1 reduce 3@3584,12288 192@1,64 constant epilogue 4 3x3
  // Extents with strides in elements: of rows in the row factor, of columns in the column factor,
  // of batch and reduction in both. `constant`: the column factor is one. `epilogue`: its cost;
  // `stored` if the sums are stored instead. `3x3`: Winograd's filtering can compute it.
  std::string text;
  TileProblem tile;
  std::optional<WinogradProblem> winograd;
};

// Reads the problem off stages[which] of a kernel, which FindContraction has found; nothing if
// merging its axes takes the column away.
std::optional<ContractionProblem> AsContractionProblem(const loop::Kernel& kernel, size_t which,
                                                       const Context& context);

// What the analytic model chooses.
ContractionChoice ChooseContraction(const ContractionProblem& problem, const Target& target);

// Up to `limit` choices that are worth measuring beside the model's: of every kind those that it
// finds best, the kinds in turns. None twice, and not the model's own.
std::vector<ContractionChoice> ListContractionChoices(const ContractionProblem& problem,
                                                      const Target& target, size_t limit);

// InvalidArgument, with the field, what was found and what was wanted, if the problem cannot be
// computed so.
absl::Status CheckChoice(const ContractionProblem& problem, const ContractionChoice& choice,
                         const Target& target);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_CONTRACTION_CHOICE_H_
