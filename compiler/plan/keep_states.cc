// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/keep_states.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"

namespace kiln {
namespace {

const PlanBuffer& BufferOf(const Plan& plan, int id) {
  return plan.buffers[static_cast<size_t>(id)];
}

// True if the call reads the old value exactly once and may overwrite it with the new value.
bool WritesOver(const Plan& plan, const PlanCall& call, int old_value, int new_value) {
  const auto root = [&](int arg) { return plan.Root(call.args[static_cast<size_t>(arg)]); };
  int reads = 0;
  for (int i = 0; i < call.num_inputs(); ++i) reads += root(i) == old_value ? 1 : 0;
  return reads == 1 && std::any_of(call.in_place.begin(), call.in_place.end(),
                                   [&](const std::pair<int, int>& pair) {
                                     return root(pair.first) == old_value &&
                                            root(call.num_inputs() + pair.second) == new_value;
                                   });
}

// True if the new value may overwrite the old one. All reads of the old value must come before the
// first write of the new value, or be in the call that makes it and may overwrite what it reads.
bool CanKeep(const Plan& plan, int old_value, int new_value) {
  const int last_read = BufferOf(plan, old_value).last_call,
            first_write = BufferOf(plan, new_value).first_call;
  if (last_read != first_write) return last_read < first_write;
  return WritesOver(plan, plan.calls[static_cast<size_t>(first_write)], old_value, new_value);
}

}  // namespace

void KeepStates(const Graph& graph, const PlanOptions& options, Plan& plan) {
  int num_copies = 0;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    PlanState& state = plan.states[i];
    const int root = plan.Root(state.output);
    if (CanKeep(plan, state.input, root)) {
      plan.buffers[static_cast<size_t>(root)].alias_of = state.input;
      continue;
    }
    state.is_copied = true;
    const StatePair& pair = options.states[i];
    plan.calls.push_back(
        {{.function = absl::StrCat(options.copy_function, "_", num_copies++),
          .inputs = {graph.outputs[static_cast<size_t>(pair.output)]},
          .outputs = {graph.inputs[static_cast<size_t>(pair.input)]},
          .op_names = "copy",
          .source = BufferOf(plan, state.input).name,
          .cost = loop::Cost{.accessed_bytes = 2 * BufferOf(plan, state.input).bytes()}},
         {state.output, state.input},
         -1});
  }
}

void PlaceStates(const PlanOptions& options, Plan& plan) {
  if (plan.states.empty()) return;
  PlanPool pool = {.name = "state",
                   .alignment_bytes = options.alignment_bytes,
                   .external = !options.pools.empty(),
                   .is_state = true};
  for (const PlanState& state : plan.states) {
    PlanBuffer& buffer = plan.buffers[static_cast<size_t>(state.input)];
    buffer.pool = static_cast<int>(plan.pools.size());
    buffer.offset_bytes = pool.size_bytes;
    pool.size_bytes += AlignUp(buffer.bytes(), options.alignment_bytes);
  }
  // The block exists even if no state has elements.
  pool.size_bytes = std::max(pool.size_bytes, options.alignment_bytes);
  pool.lower_bound_bytes = pool.size_bytes;
  plan.pools.push_back(std::move(pool));
}

}  // namespace kiln
