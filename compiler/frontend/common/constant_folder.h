// SPDX-License-Identifier: Apache-2.0
// ConstantFolder: computes what an importer adds to a graph, where that depends on constants alone
// and is small, so that the shapes that a model computes are known when they are needed.
//
//   ConstantFolder folder(graph, evaluate);
//   … add the nodes of one operator …
//   KILN_RETURN_IF_ERROR(folder.Fold(outputs));   // its outputs may be constants now
#ifndef KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
#define KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_

#include <set>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

class ConstantFolder {
 public:
  // Both must outlive the folder.
  ConstantFolder(Graph& graph, const Evaluator& evaluate) : graph_(graph), evaluate_(evaluate) {}

  // Looks at the nodes that have been added since the last call. Results of constants up to some
  // size take the place of `outputs`; larger ones are left to the compiler. kNoId stays.
  absl::Status Fold(absl::Span<ValueId> outputs);

 private:
  // Whether `value` depends on no input.
  bool IsFixed(ValueId value) const;
  // The nodes that `outputs` need, as a graph of their own.
  Graph Slice(absl::Span<const ValueId> outputs) const;

  Graph& graph_;
  const Evaluator& evaluate_;
  std::set<NodeId> fixed_;
  NodeId next_node_ = 0;
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_CONSTANT_FOLDER_H_
