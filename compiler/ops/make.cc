// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/make.h"

#include <utility>

#include "compiler/ops/add_op.h"

namespace kiln {

absl::StatusOr<ValueId> MakeReshape(Graph& graph, ValueId value, const Shape& shape,
                                    SourceLocation source) {
  return AddOp(graph, "reshape", {value},
               {{"newshape", AttrValue::Ints(shape)}, {"allowzero", !shape.empty()}},
               std::move(source));
}

absl::StatusOr<ValueId> MakeAlongAxis(Graph& graph, ValueId value, int64_t rank, int64_t axis) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = graph.type(value).num_elements();
  return MakeReshape(graph, value, shape);
}

absl::StatusOr<ValueId> MakeTranspose(Graph& graph, ValueId value, const std::vector<int64_t>& axes,
                                      SourceLocation source) {
  return AddOp(graph, "transpose", {value}, {{"axes", AttrValue::Ints(axes)}}, std::move(source));
}

absl::StatusOr<ValueId> MakeSlice(Graph& graph, ValueId value, int64_t axis, int64_t begin,
                                  int64_t end, SourceLocation source) {
  return AddOp(graph, "strided_slice", {value},
               {{"begin", AttrValue::Ints({begin})},
                {"end", AttrValue::Ints({end})},
                {"axes", AttrValue::Ints({axis})}},
               std::move(source));
}

absl::StatusOr<ValueId> MakeCopy(Graph& graph, ValueId value, SourceLocation source) {
  return AddOp(graph, "copy", {value}, {}, std::move(source));
}

absl::StatusOr<ValueId> MakeCast(Graph& graph, ValueId value, DType dtype, SourceLocation source) {
  return AddOp(graph, "cast", {value}, {{"dtype", dtype.ToString()}}, std::move(source));
}

absl::StatusOr<ValueId> MakeProduct(Graph& graph, ValueId lhs, ValueId rhs, SourceLocation source) {
  return AddOp(graph, "multiply", {lhs, rhs}, {}, std::move(source));
}

}  // namespace kiln
