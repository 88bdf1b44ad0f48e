// SPDX-License-Identifier: Apache-2.0
// Lower: from a fused Graph to a LoopProgram. Every group becomes one function; a reshape of a
// computed value becomes a view; of an external subgraph the function is declared only. Of a
// concatenation remains what is not made in its place.
//
//   KILN_ASSIGN_OR_RETURN(Lowered lowered, Lower(graph, target, {.module_name = "my_mod"}));
#ifndef KILN_COMPILER_LOWER_LOWER_H_
#define KILN_COMPILER_LOWER_LOWER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/call/call.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/state.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/stage.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/target.h"

namespace kiln {

struct LowerOptions {
  std::string module_name = "default";
  ScheduleOptions schedule = {};
  // Inputs of concatenations are made in their place in the result, where they can be: slices.h.
  bool place_concatenations = true;
  // Inputs and outputs of the graph that may be the same memory, as those of a state are. A function
  // that moves a part of such an input within it is written so that it can.
  std::vector<StatePair> states = {};
  // Inputs and outputs of the graph lie in the workspace, as long as they are alive.
  bool workspace_io = false;
};

struct Lowered {
  loop::LoopProgram program;  // kUnpacked operator functions; scalar code, parallel and vectorized
                              // loops still loops
  std::vector<Call> calls;    // in order
  std::map<std::string, ScheduledContraction> contractions;  // by function, of those that have one
};

// The graph must be typed. Function names are tvmgen_<module>_fused_<operators>, and the
// global_symbol of an external subgraph.
absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target,
                              const LowerOptions& options);

// About how many operations it takes to compute a node of a typed graph, eight bytes that it reads
// or writes counted as one; the largest number there is of one that Kiln has no code for.
int64_t WorkOfNode(const Graph& graph, const Node& node);

// The stages of every function, before scheduling, as text.
absl::StatusOr<std::string> PrintStages(const Graph& graph, const Target& target,
                                        const LowerOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_LOWER_H_
