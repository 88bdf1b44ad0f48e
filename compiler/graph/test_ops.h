// SPDX-License-Identifier: Apache-2.0
// A few operators for graph tests, so that these do not depend on compiler/ops.
#ifndef KILN_COMPILER_GRAPH_TEST_OPS_H_
#define KILN_COMPILER_GRAPH_TEST_OPS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/graph/op_schema.h"

namespace kiln {

// Returns an operator: add, subtract, multiply, divide, equal, less, greater_equal, nn.relu,
// nn.conv2d, nn.bias_add, nn.pad, nn.batch_norm, cast, clip, concatenate, qnn.concatenate,
// qnn.dense, split, zeros, where3 (its third input is optional). Null for any other name.
const OpSchema* FindTestOp(absl::string_view name);
const std::vector<OpSchema>& TestOps();

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_TEST_OPS_H_
