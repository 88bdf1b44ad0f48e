// SPDX-License-Identifier: Apache-2.0
// Graph passes: each a function from a Graph to a Graph of the same meaning, and one row of the
// table AllPasses.
//
//   KILN_ASSIGN_OR_RETURN(Graph fused, RunPasses(std::move(graph), context, {}));
//
// The pass machine (compiler/base/pass_machine.h) runs them: it verifies what each pass claims, and
// the order of the table is checked at compile time.
#ifndef KILN_COMPILER_PASSES_PASS_H_
#define KILN_COMPILER_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/base/pass_machine.h"
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
  bool for_size = false;            // constants of fewer bytes count for more than speed
  bool for_ram = false;             // so do bytes of the workspace
  bool keeps_state = false;         // the model keeps its state (compiler/graph/state.h) itself
  // Of the constants of the whole model, before any pass; RunPasses sets it. Constants that one
  // run of constant folding makes do not allow the next one more.
  std::optional<int64_t> constant_bytes = std::nullopt;
};

// What is known of a graph. Of a property that a pass gives, the verifier is the pass: it finds
// nothing left to do.
enum GraphProperty : Properties {
  kTyped = 1,            // every value has a type
  kCanonical = 2,        // no batch_norm over constants, no dropout, no reshape in another spelling
  kIntegerProducts = 4,  // no products of dequantized numbers that integers would do
  kFolded = 8,           // no node whose inputs are all constants, but what is too large to compute
  kUnique = 16,          // nothing is computed twice
  kPartitioned = 32,     // external code generators have what they take
  kLaidOut = 64,         // convolutions are channels-last
  kOwnOutputs = 128,     // every output is made by a node, in memory of its own
  kFused = 256,          // nodes are groups, views or single operators
};

using Pass = PassOf<Graph, PassContext>;
// Which optional passes are switched off, and what is called with the graph after each.
using PassOptions = PassRun<Graph>;

absl::Span<const Pass> AllPasses();
absl::Span<const PropertyOf<Graph, PassContext>> GraphProperties();

// Runs the table over `graph`. InvalidArgument for an unknown or needed name in `disabled`;
// Internal, naming the pass, if a property that a pass claims does not hold.
absl::StatusOr<Graph> RunPasses(Graph graph, const PassContext& context,
                                const PassOptions& options);

// The passes. What each does is said above its definition, in <name>.cc, and in the table.
absl::StatusOr<Graph> InferTypes(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> WidenStates(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> CheckIndices(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> Canonicalize(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> IntegerProducts(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> KeepByteWeights(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> FoldScales(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> FoldConstants(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> EliminateCommonSubexpressions(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> PartitionForExternal(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> ConvertLayout(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> CopyOutputs(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> Fuse(const Graph& graph, const PassContext& context);
absl::StatusOr<Graph> SplitRows(const Graph& graph, const PassContext& context);

}  // namespace kiln

#endif  // KILN_COMPILER_PASSES_PASS_H_
