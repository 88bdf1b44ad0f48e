// SPDX-License-Identifier: Apache-2.0
// MoveWithin: moves a part of a state within the memory of the state, as a window over a stream
// does.
#ifndef KILN_COMPILER_LOWER_MOVE_H_
#define KILN_COMPILER_LOWER_MOVE_H_

#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/state.h"
#include "compiler/lower/call_maker.h"
#include "compiler/schedule/schedule.h"

namespace kiln {

// Returns the function of a call that moves a range of a state's value to its place in the next
// value. The range is along one axis, both tensors have the same shape, and the new place is the
// same or closer to the front. Elements are copied from first to last, so both values may share
// memory; compilers turn it into a memmove. Returns nothing for other calls.
std::optional<Scheduled> MoveWithin(const Graph& graph, const std::vector<StatePair>& states,
                                    const PendingCall& call);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_MOVE_H_
