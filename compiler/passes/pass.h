// SPDX-License-Identifier: Apache-2.0
// Graph passes: each is a function from a Graph to a Graph of the same meaning, and one
// row of the table AllPasses.
//
//   KILN_ASSIGN_OR_RETURN(Graph fused, RunPasses(std::move(graph), context, {}));
//
// The pass machine (compiler/base/pass_machine.h) runs them and verifies what each pass claims. The
// order of the table is checked at compile time.
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

// Computes the outputs of a graph without inputs. Constant folding runs the lowered code.
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Graph&)>;

// Estimates the number of operations that a node of a typed graph takes. A few
// bytes of memory count as one.
using WorkEstimator = std::function<int64_t(const Graph& graph, const Node& node)>;

// Puts the operators that external code generators take into groups with the attribute Compiler.
using Partitioner = std::function<absl::StatusOr<Graph>(const Graph&)>;

struct PassContext {
  const Target& target;
  Evaluator evaluate;
  Partitioner partition = nullptr;  // Null: there are no external code generators.
  WorkEstimator work = nullptr;     // Null: folding is not limited by work.
  bool check_indices = false;       // The model fails if a computed index is out of bounds.
  bool for_size = false;            // Fewer bytes of constants matter more than speed.
  bool for_ram = false;             // Fewer bytes of workspace matter more than speed.
  bool keeps_state = false;         // The model keeps its state (compiler/graph/state.h) itself.
  // Bytes of all constants of the model, before any pass; RunPasses sets it. Constants that one run
  // of constant folding makes do not allow the next run to make more.
  std::optional<int64_t> constant_bytes = std::nullopt;
};

// Properties of a graph. The verifier of a property that a pass gives is that pass: it must find
// nothing left to do. Types have a verifier of their own.
enum GraphProperty : Properties {
  kTyped = 1,            // Every value has a type.
  kCanonical = 2,        // No batch_norm over constants, no dropout, one spelling of reshape.
  kIntegerProducts = 4,  // No products of dequantized numbers that integers could compute.
  kFolded = 8,           // No node with only constant inputs, unless it is too large to compute.
  kUnique = 16,          // Nothing is computed twice.
  kPartitioned = 32,     // External code generators have the operators that they take.
  kLaidOut = 64,         // Convolutions are channels-last.
  kOwnOutputs = 128,     // Every output is made by a node, in memory of its own.
  kFused = 256,          // Nodes are groups, views or single operators.
};

using Pass = PassOf<Graph, PassContext>;
// The optional passes that are switched off, and a function to call with the graph after each pass.
using PassOptions = PassRun<Graph>;

absl::Span<const Pass> AllPasses();
absl::Span<const PropertyOf<Graph, PassContext>> GraphProperties();

// Runs the table over `graph`. InvalidArgument if `disabled` has an unknown name or that of a
// required pass. Internal, naming the pass, if a property that it claims does not hold.
absl::StatusOr<Graph> RunPasses(Graph graph, const PassContext& context,
                                const PassOptions& options);
// The same for the passes that make of a fused graph its form by strips of rows. They are part of
// AllPasses, but no part of RunPasses: both forms of the graph are planned.
absl::StatusOr<Graph> RunStripPasses(Graph fused, const PassContext& context,
                                     const PassOptions& options);

// The passes. Each is described above its definition, in <name>.cc, and in the table.
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
