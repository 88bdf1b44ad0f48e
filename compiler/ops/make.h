// SPDX-License-Identifier: Apache-2.0
// Adds the operators that passes and front ends need most often to a typed graph.
// add_op.h adds any operator.
//
//   KILN_ASSIGN_OR_RETURN(const ValueId nhwc, MakeTranspose(graph, x, {0, 2, 3, 1}));
//
// `source` is the location of the node that the operator replaces. Errors are those of AddOp.
#ifndef KILN_COMPILER_OPS_MAKE_H_
#define KILN_COMPILER_OPS_MAKE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Reshapes `value`. Every entry of `shape` is an extent; none has a special meaning.
absl::StatusOr<ValueId> MakeReshape(Graph& graph, ValueId value, const Shape& shape,
                                    SourceLocation source = {});
// Reshapes `value` to one axis of a tensor of this rank, whose other extents are 1.
absl::StatusOr<ValueId> MakeAlongAxis(Graph& graph, ValueId value, int64_t rank, int64_t axis);
// Dimension d of the result is dimension axes[d] of `value`.
absl::StatusOr<ValueId> MakeTranspose(Graph& graph, ValueId value, const std::vector<int64_t>& axes,
                                      SourceLocation source = {});
// The places begin <= i < end of `axis`.
absl::StatusOr<ValueId> MakeSlice(Graph& graph, ValueId value, int64_t axis, int64_t begin,
                                  int64_t end, SourceLocation source = {});
absl::StatusOr<ValueId> MakeCopy(Graph& graph, ValueId value, SourceLocation source = {});
absl::StatusOr<ValueId> MakeCast(Graph& graph, ValueId value, DType dtype,
                                 SourceLocation source = {});
// The element-wise product, with broadcasting.
absl::StatusOr<ValueId> MakeProduct(Graph& graph, ValueId lhs, ValueId rhs,
                                    SourceLocation source = {});

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_MAKE_H_
