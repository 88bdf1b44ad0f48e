// SPDX-License-Identifier: Apache-2.0
// ConstantFolder: computes what depends on constants alone while a model is imported, so that
// shapes, trip counts and the like are known. Results of constants up to a size are computed at
// once; larger ones are left to the pass that folds constants.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CONSTANT_FOLDER_H_
#define KILN_COMPILER_FRONTEND_ONNX_CONSTANT_FOLDER_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/item.h"
#include "compiler/graph/graph.h"

namespace kiln::onnx_frontend {

class ConstantFolder {
 public:
  // Both must outlive the folder.
  ConstantFolder(Graph& graph, const Evaluator& evaluate) : graph_(graph), evaluate_(evaluate) {}

  // Looks at the nodes that the graph has got since the last call, and replaces those of `items`
  // that they make by constants where that can be done.
  absl::Status Fold(std::vector<Item>& items);

 private:
  // Whether `value` depends on no input.
  bool IsFixed(ValueId value) const;
  // The graph that computes `values`, of which all are fixed.
  Graph ConeOf(const std::vector<ValueId>& values) const;

  Graph& graph_;
  const Evaluator& evaluate_;
  std::vector<bool> fixed_;  // by node, of those that it has looked at
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONSTANT_FOLDER_H_
