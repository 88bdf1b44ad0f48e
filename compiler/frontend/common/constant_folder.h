// SPDX-License-Identifier: Apache-2.0
// ConstantFolder: computes values that an importer adds to a graph, if they depend only on
// constants, are small and are quick to compute. The shapes that a model computes are thus known
// when they are needed.
//
//   ConstantFolder folder(graph, file_bytes, evaluate);
//   … add the nodes of one operator …
//   KILN_RETURN_IF_ERROR(folder.Fold({&output}));   // its outputs may be constants now
#ifndef KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
#define KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/fixed_nodes.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

class ConstantFolder {
 public:
  // `graph` and `evaluate` must outlive the folder. `file_bytes` is the size of the model's file.
  // The folder's total work is limited in proportion to it.
  ConstantFolder(Graph& graph, size_t file_bytes, const Evaluator& evaluate);

  // Replaces each of `values` that depends only on constants by a constant. Values stay as they
  // are, for the compiler, if they are large, take long to compute, or exceed the folder's total
  // work. kNoId is allowed and stays.
  //
  // A dequantized tensor and values computed from it are not replaced, because the pass
  // integer-products needs quantized weights. ValueOf returns their value.
  absl::Status Fold(const std::vector<ValueId*>& values);

  // Returns the value of a constant, or of nodes of any kind that depend only on constants, within
  // the limits of Fold. Absent for other values and for values that take too long. Does not change
  // the graph. Each value is computed once. Errors are those of the evaluator.
  absl::StatusOr<std::optional<Tensor>> ValueOf(ValueId value);

 private:
  // True if `values` have few enough elements in total for one call.
  bool AreSmall(const std::vector<ValueId>& values) const;
  // Returns the values of outputs of fixed nodes. ResourceExhausted if that takes more operations
  // than a call or the folder may use.
  absl::StatusOr<std::vector<Tensor>> Compute(const std::vector<ValueId>& values);
  // Returns the nodes that compute `values`, which must all be fixed. Absent if they are too many
  // or read too much. Subtracts their cost from `work`.
  std::optional<std::set<NodeId>> ConeOf(const std::vector<ValueId>& values, int64_t& work) const;
  // Returns the graph of these nodes, with `values` as its outputs.
  Graph Part(const std::set<NodeId>& nodes, const std::vector<ValueId>& values) const;

  Graph& graph_;
  const Evaluator& evaluate_;
  FixedNodes foldable_;  // excludes nodes that dequantize or take too long
  FixedNodes fixed_;     // all nodes that depend only on constants
  std::map<ValueId, std::optional<Tensor>>
      known_;  // results of ValueOf; nullopt: beyond the limits
  int64_t work_left_;
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
