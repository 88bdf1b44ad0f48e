// SPDX-License-Identifier: Apache-2.0
// A part of a state that moves within the memory of the state, as a window over a stream does.
#ifndef KILN_COMPILER_LOWER_MOVE_H_
#define KILN_COMPILER_LOWER_MOVE_H_

#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/state.h"
#include "compiler/lower/call_maker.h"
#include "compiler/schedule/schedule.h"

namespace kiln {

// The function of a call that takes a range along one axis of a state's value and puts it where it
// belongs in the next value, at the same place of a tensor of the same shape or before it. It goes
// from the first element to the last, so that both may be one memory; compilers make a memmove of
// it. Nothing if the call is of another kind.
std::optional<Scheduled> MoveWithin(const Graph& graph, const std::vector<StatePair>& states,
                                    const PendingCall& call);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_MOVE_H_
