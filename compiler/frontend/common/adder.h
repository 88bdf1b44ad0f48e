// SPDX-License-Identifier: Apache-2.0
// Adder: adds Relay operators for one operator of the model to the graph that an importer builds.
// They all get the source location of the model's operator.
//
//   KILN_ASSIGN_OR_RETURN(const ValueId half, add.Op("multiply", {x, add.Scalar(x, 0.5)}));
#ifndef KILN_COMPILER_FRONTEND_COMMON_ADDER_H_
#define KILN_COMPILER_FRONTEND_COMMON_ADDER_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln::frontend {

class Adder {
 public:
  // `graph` must outlive the adder.
  Adder(Graph& graph, SourceLocation source) : graph_(graph), source_(std::move(source)) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const SourceLocation& source() const { return source_; }
  // Returns a copy, because the graph's own type moves in memory as operators are added.
  TensorType type(ValueId value) const { return graph_.type(value); }

  // Adds an operator with one output. Errors begin with the operator's name.
  absl::StatusOr<ValueId> Op(absl::string_view relay_op, std::vector<ValueId> inputs,
                             Attrs attrs = {});
  // Adds an operator whose result is a tuple.
  absl::StatusOr<std::vector<ValueId>> TupleOp(absl::string_view relay_op,
                                               std::vector<ValueId> inputs, Attrs attrs = {});
  ValueId Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  // Adds a scalar constant with the dtype of `like`.
  ValueId Scalar(ValueId like, double value) {
    return Constant(Tensor::Scalar(type(like).dtype, value));
  }
  // Returns `value` itself if it already has the shape. All entries of `shape` must be extents, not
  // placeholders such as -1.
  absl::StatusOr<ValueId> Reshape(ValueId value, const Shape& shape);
  // Returns `value` itself if it already has the dtype.
  absl::StatusOr<ValueId> Cast(ValueId value, DType dtype);
  // Dimension d of the result is dimension axes[d] of `value`.
  absl::StatusOr<ValueId> Transpose(ValueId value, const std::vector<int64_t>& axes);

 private:
  Graph& graph_;
  SourceLocation source_;
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_ADDER_H_
