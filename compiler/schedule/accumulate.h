// SPDX-License-Identifier: Apache-2.0
// The sums of a reduction while it runs: a local buffer of lanes.
#ifndef KILN_COMPILER_SCHEDULE_ACCUMULATE_H_
#define KILN_COMPILER_SCHEDULE_ACCUMULATE_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "compiler/schedule/nest.h"

namespace kiln::schedule {

// For the sums of a stage, or what else is of their dtype.
Buffer LocalBuffer(const Stage& stage, absl::string_view suffix, Shape shape);

// acc[…] = combine(acc[…], term) in a loop of `extent` elements. A product is added by a fused
// multiply-add where the machine has it.
Stmt Accumulate(const Buffer& acc, int64_t extent, ForKind kind, loop::Combine combine,
                const Target& target, const std::function<Expr(const Expr& lane)>& term);

// acc[…] = value.
Stmt Fill(const Buffer& acc, int64_t extent, ForKind kind, const Expr& value);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ACCUMULATE_H_
