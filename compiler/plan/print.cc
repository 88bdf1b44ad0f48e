// SPDX-License-Identifier: Apache-2.0
// Text of a plan.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/plan/plan.h"

namespace kiln {

const char* KindName(PlanBufferKind kind) {
  switch (kind) {
    case PlanBufferKind::kInput:
      return "input";
    case PlanBufferKind::kOutput:
      return "output";
    case PlanBufferKind::kIntermediate:
      return "tensor";
    case PlanBufferKind::kScratch:
      return "scratch";
    case PlanBufferKind::kState:
      return "state";
  }
  return "";
}

std::string ToString(const Plan& plan) {
  std::string text = absl::StrFormat("workspace %d bytes, lower bound %d bytes (%s)\n",
                                     plan.workspace_bytes(), plan.lower_bound_bytes,
                                     plan.strategy.empty() ? "nothing to place" : plan.strategy);
  if (!plan.overlaps.empty()) {
    absl::StrAppend(&text, "outputs that reach into inputs save ", plan.overlap_saves_bytes,
                    " bytes\n");
  }
  for (const PlanPool& pool : plan.pools) {
    if (pool.is_state) {
      absl::StrAppendFormat(&text, "state %d bytes, aligned to %d\n", pool.size_bytes,
                            pool.alignment_bytes);
      continue;
    }
    if (!pool.external) continue;
    absl::StrAppendFormat(&text, "pool %s: %d bytes of %s, aligned to %d, speed %g\n", pool.name,
                          pool.size_bytes,
                          pool.limit_bytes < 0 ? "any" : absl::StrCat(pool.limit_bytes),
                          pool.alignment_bytes, pool.speed);
  }
  absl::StrAppend(&text, "calls:\n");
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const PlanCall& call = plan.calls[c];
    absl::StrAppend(&text, "  ", c, ": ", call.function.empty() ? "view" : call.function, "(");
    for (size_t a = 0; a < call.args.size(); ++a) {
      absl::StrAppend(&text,
                      a == 0                                     ? ""
                      : static_cast<int>(a) == call.num_inputs() ? " -> "
                                                                 : ", ",
                      plan.buffers[static_cast<size_t>(call.args[a])].name);
    }
    absl::StrAppend(&text, ")\n");
  }
  absl::StrAppend(&text, "buffers:\n");
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer& b = plan.buffers[i];
    absl::StrAppendFormat(&text, "  %-12s %-8s %s %d bytes, calls %d to %d", b.name,
                          KindName(b.kind), b.type.ToString(), b.bytes(), b.first_call,
                          b.last_call);
    if (b.alias_of >= 0) {
      absl::StrAppend(&text, b.is_view ? ", view of " : ", in place of ",
                      plan.buffers[static_cast<size_t>(b.alias_of)].name);
    }
    if (b.pool >= 0) {
      const PlanPool& pool = plan.pools[static_cast<size_t>(b.pool)];
      absl::StrAppend(&text, ", at ", pool.external || pool.is_state ? pool.name + " + " : "",
                      b.offset_bytes);
    }
    for (const PlanOverlap& overlap : plan.overlaps) {
      if (overlap.output != static_cast<int>(i)) continue;
      absl::StrAppend(&text, ", reaches into ",
                      plan.buffers[static_cast<size_t>(overlap.input)].name);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace kiln
