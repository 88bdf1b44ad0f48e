// SPDX-License-Identifier: Apache-2.0
// ContractionFacts: the analyses of a sum of products before its axes are merged. Each runs at most
// once, when its result is first needed.
#ifndef KILN_COMPILER_SCHEDULE_CONTRACTION_FACTS_H_
#define KILN_COMPILER_SCHEDULE_CONTRACTION_FACTS_H_

#include <map>
#include <optional>
#include <utility>

#include "compiler/schedule/dot_product.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Returns the index of the stage before stages[which] that only pads a factor of it, so that each
// tile can compute it for its own rows. Returns nothing if there is none.
std::optional<size_t> FindRowPadding(const loop::Kernel& kernel, size_t which);

class ContractionFacts {
 public:
  // `contraction` is AsContraction of stages[which]. The kernel must outlive the facts and stay as
  // it is.
  ContractionFacts(const loop::Kernel& kernel, size_t which, Contraction contraction)
      : kernel_(&kernel), which_(which), contraction_(std::move(contraction)) {}

  const loop::Kernel& kernel() const { return *kernel_; }
  size_t which() const { return which_; }
  const Stage& stage() const { return kernel_->stages[which_]; }

  std::optional<size_t> RowPadding();  // FindRowPadding
  // Returns the plan for computing the contraction by dot products whose rows come from `source`.
  // Returns nothing if the stage is not a contraction of integers, or of floats that may be rounded
  // or split, by suitable constants, or if dot products do not pay.
  const std::optional<DotPlan>& Dot(RowSource source, const Context& context);

 private:
  const loop::Kernel* kernel_;
  size_t which_;
  Contraction contraction_;
  std::optional<std::optional<size_t>> row_padding_;
  std::map<RowSource, std::optional<DotPlan>> dots_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_CONTRACTION_FACTS_H_
