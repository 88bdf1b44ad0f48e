// SPDX-License-Identifier: Apache-2.0
// Functions that add typed operators to a graph under construction.
#ifndef KILN_COMPILER_OPS_ADD_OP_H_
#define KILN_COMPILER_OPS_ADD_OP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Adds a node, with defaults filled in and types inferred, and returns its first output. Error
// messages begin with the operator.
absl::StatusOr<ValueId> AddOp(Graph& graph, absl::string_view op, std::vector<ValueId> inputs,
                              Attrs attrs = {}, SourceLocation source = {});

// The same for an operator with any number of outputs. Returns all of them.
absl::StatusOr<std::vector<ValueId>> AddOpOutputs(Graph& graph, absl::string_view op,
                                                  std::vector<ValueId> inputs, Attrs attrs = {},
                                                  SourceLocation source = {});

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_ADD_OP_H_
