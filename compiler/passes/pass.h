// SPDX-License-Identifier: Apache-2.0
// Graph passes: each a function from a Graph to a Graph of the same meaning, and one row of the
// table AllPasses.
//
//   KILN_ASSIGN_OR_RETURN(Graph fused, RunPasses(std::move(graph), context, {}));
//
// The verifier runs after each pass. The order of the table is checked at compile time against what
// each pass needs and gives.
#ifndef KILN_COMPILER_PASSES_PASS_H_
#define KILN_COMPILER_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/graph/graph.h"
#include "compiler/target/target.h"

namespace kiln {

// Computes the outputs of a graph without inputs: constant folding runs the lowered code.
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Graph&)>;

// About how many operations it takes to compute a node of a typed graph, a few bytes of memory
// counted as one.
using WorkEstimator = std::function<int64_t(const Graph& graph, const Node& node)>;

// Puts what external code generators take into groups with the attribute Compiler.
using Partitioner = std::function<absl::StatusOr<Graph>(const Graph&)>;

struct PassContext {
  const Target& target;
  Evaluator evaluate;
  Partitioner partition = nullptr;  // null: there are no external code generators
  WorkEstimator work = nullptr;     // null: no node takes too much to be folded
  bool check_indices = false;       // that are computed: the model fails where one is outside
};

// What is known of a graph; a pass needs some and gives some.
enum GraphProperty : unsigned {
  kTyped = 1,        // every value has a type
  kCanonical = 2,    // no batch_norm over constants, no dropout, no reshape in another spelling
  kFolded = 4,       // no node whose inputs are all constants
  kLaidOut = 8,      // convolutions are channels-last
  kOwnOutputs = 16,  // every output is made by a node, in memory of its own
  kFused = 32,       // nodes are groups, views or single operators
};

struct Pass {
  const char* name;  // "fold-constants"
  const char* doc;
  unsigned needs;
  unsigned gives;
  bool optional;  // may be switched off
  absl::StatusOr<Graph> (*run)(const Graph&, const PassContext&);
};

absl::Span<const Pass> AllPasses();

struct PassOptions {
  std::vector<std::string> disabled;  // names of optional passes
  // Called with the graph after each pass that has run.
  std::function<void(absl::string_view name, const Graph&)> after;
};

// Runs the table over `graph`. InvalidArgument for an unknown or needed name in `disabled`;
// Internal, naming the pass, if the verifier rejects what a pass has made.
absl::StatusOr<Graph> RunPasses(Graph graph, const PassContext& context,
                                const PassOptions& options);

// The passes. What each does is said above its definition, in <name>.cc, and in the table.
absl::StatusOr<Graph> InferTypes(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> CheckIndices(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> Canonicalize(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> IntegerProducts(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> FoldScales(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> FoldConstants(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> EliminateCommonSubexpressions(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> PartitionForExternal(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> ConvertLayout(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> CopyOutputs(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> Fuse(const Graph& graph, const PassContext& context);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_PASS_H_
