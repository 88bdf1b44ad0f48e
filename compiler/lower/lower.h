// SPDX-License-Identifier: Apache-2.0
// Lower: from a fused Graph to a LoopProgram. Every group becomes one function. A reshape of a
// computed value becomes a view. The function of an external subgraph is only declared. A
// concatenation only copies the inputs that are not made in their place.
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
#include "compiler/lower/known_kernels.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/target.h"

namespace kiln {

struct LowerOptions {
  std::string module_name = "default";
  ScheduleOptions schedule = {};
  // Makes the inputs of concatenations in their place in the result if possible (slices.h).
  bool place_concatenations = true;
  // Inputs and outputs of the graph that may share memory, as those of a state do. A function that
  // moves a part of such an input within it then allows this.
  std::vector<StatePair> states = {};
  // Inputs and outputs of the graph are in the workspace while they are alive.
  bool workspace_io = false;
};

struct Lowered {
  loop::LoopProgram program;  // kUnpacked operator functions, scalar code; parallel and vectorized
                              // loops are still loops
  std::vector<Call> calls;    // in order
  std::map<std::string, ScheduledContraction> contractions;  // by function, if it is a contraction
  std::map<std::string, std::vector<std::string>> plans;     // Scheduled::plans by function
};

// The graph must be typed. Functions are named tvmgen_<module>_fused_<operators>. The function of
// an external subgraph has the name in its global_symbol.
absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target,
                              const LowerOptions& options);
// The same for several forms of one graph: kernels in `known` are not scheduled again. `known` must
// be of the same target and the same options.
absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target, const LowerOptions& options,
                              KnownKernels& known);

// Returns the approximate number of operations that compute a node of a typed graph. Eight bytes
// that it reads or writes count as one operation. Returns the maximum of int64_t if Kiln has no
// code for the node.
int64_t WorkOfNode(const Graph& graph, const Node& node);

// Returns the schedule and the plans of every function as text, in the order of the calls.
std::string PrintPlans(const Lowered& lowered);

// Returns the stages of every function, before scheduling, as text.
absl::StatusOr<std::string> PrintStages(const Graph& graph, const Target& target,
                                        const LowerOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_LOWER_H_
