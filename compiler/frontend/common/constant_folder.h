// SPDX-License-Identifier: Apache-2.0
// ConstantFolder: computes what an importer adds to a graph, where that depends on constants alone
// and is small, so that the shapes that a model computes are known when they are needed.
//
//   ConstantFolder folder(graph, evaluate);
//   … add the nodes of one operator …
//   KILN_RETURN_IF_ERROR(folder.Fold({&output}));   // its outputs may be constants now
#ifndef KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
#define KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_

#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

class ConstantFolder {
 public:
  // Both must outlive the folder.
  ConstantFolder(Graph& graph, const Evaluator& evaluate) : graph_(graph), evaluate_(evaluate) {}

  // Looks at the nodes that have been added since the last call. Those of `values` that these make
  // of constants become constants, up to some size of all that is read and made, and some work; the
  // rest is left to the compiler. kNoId stays.
  absl::Status Fold(const std::vector<ValueId*>& values);

 private:
  // Whether `value` depends on no input.
  bool IsFixed(ValueId value) const;
  // The nodes that compute `values`, of which all are fixed; nothing if they read too much.
  std::optional<std::set<NodeId>> ConeOf(const std::vector<ValueId>& values) const;
  // The graph of these nodes, whose outputs are `values`.
  Graph Part(const std::set<NodeId>& nodes, const std::vector<ValueId>& values) const;

  Graph& graph_;
  const Evaluator& evaluate_;
  std::vector<bool> fixed_;  // by node, of those that it has looked at
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
