// SPDX-License-Identifier: Apache-2.0
// ConstantFolder: computes what an importer adds to a graph, where that depends on constants alone,
// is small and does not take long, so that the shapes that a model computes are known when they are
// needed.
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
  // `graph` and `evaluate` must outlive the folder. `file_bytes` is the size of the model's file,
  // which what the folder computes is in proportion to.
  ConstantFolder(Graph& graph, size_t file_bytes, const Evaluator& evaluate);

  // Those of `values` that nodes make of constants become constants, unless they are large, or
  // computing them takes long; so does all that this folder computes together. The rest is left to
  // the compiler. kNoId stays.
  //
  // A dequantized tensor, and what is made of it, stays as it is: integer-products wants weights
  // quantized. ValueOf has its value.
  absl::Status Fold(const std::vector<ValueId*>& values);

  // The value of a constant, or of what nodes of any kind make of constants within the bounds of
  // Fold; nothing for other values. The graph stays as it is. Each value is computed once.
  // Errors are those of the evaluator; a value that takes too long is no error.
  absl::StatusOr<std::optional<Tensor>> ValueOf(ValueId value);

 private:
  // True if one call may keep results with the elements of all `values`.
  bool AreSmall(const std::vector<ValueId>& values) const;
  // The values of outputs of nodes that are fixed. ResourceExhausted where that takes more
  // operations than a call, or the folder, may.
  absl::StatusOr<std::vector<Tensor>> Compute(const std::vector<ValueId>& values);
  // The nodes that compute `values`, of which all are fixed; nothing if there are too many, or they
  // read too much. Takes what that is worth off `work`.
  std::optional<std::set<NodeId>> ConeOf(const std::vector<ValueId>& values, int64_t& work) const;
  // The graph of these nodes, whose outputs are `values`.
  Graph Part(const std::set<NodeId>& nodes, const std::vector<ValueId>& values) const;

  Graph& graph_;
  const Evaluator& evaluate_;
  FixedNodes foldable_;  // except nodes that dequantize or take too long
  FixedNodes fixed_;     // with all that depend on constants alone
  std::map<ValueId, std::optional<Tensor>>
      known_;  // that ValueOf has computed; none: beyond bounds
  int64_t work_left_;
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
