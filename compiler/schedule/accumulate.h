// SPDX-License-Identifier: Apache-2.0
// Accumulators of a reduction: local buffers of lanes, and loops that fill and update them.
#ifndef KILN_COMPILER_SCHEDULE_ACCUMULATE_H_
#define KILN_COMPILER_SCHEDULE_ACCUMULATE_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// Returns a local buffer named after the stage's buffer plus `suffix`, with the dtype of the
// stage's value.
Buffer LocalBuffer(const Stage& stage, absl::string_view suffix, Shape shape);

// True if the term is a product that is added to a sum by a fused multiply-add of the target.
bool IsFused(loop::Combine combine, const Expr& term, const Target& target);

// Returns a loop acc[…] = combine(acc[…], term) over `extent` lanes. A product is added by a fused
// multiply-add if the target has one. A loop::Dot adds to acc itself.
Stmt Accumulate(const Buffer& acc, int64_t extent, ForKind kind, loop::Combine combine,
                const Target& target, const std::function<Expr(const Expr& lane)>& term);

// Returns a loop acc[…] = value over `extent` lanes.
Stmt Fill(const Buffer& acc, int64_t extent, ForKind kind, const Expr& value);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ACCUMULATE_H_
