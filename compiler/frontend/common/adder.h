// SPDX-License-Identifier: Apache-2.0
// Adder: adds Relay operators to the graph that an importer makes, all of them for one operator of
// the model, whose source location they get.
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
  // `graph` outlives the adder.
  Adder(Graph& graph, SourceLocation source) : graph_(graph), source_(std::move(source)) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const SourceLocation& source() const { return source_; }
  // A copy: the graph's own moves as operators are added.
  TensorType type(ValueId value) const { return graph_.type(value); }

  // Adds an operator with one output. Errors begin with the operator.
  absl::StatusOr<ValueId> Op(absl::string_view relay_op, std::vector<ValueId> inputs,
                             Attrs attrs = {});
  // Adds one whose result is a tuple.
  absl::StatusOr<std::vector<ValueId>> TupleOp(absl::string_view relay_op,
                                               std::vector<ValueId> inputs, Attrs attrs = {});
  ValueId Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  // A scalar of the dtype of `like`.
  ValueId Scalar(ValueId like, double value) {
    return Constant(Tensor::Scalar(type(like).dtype, value));
  }
  // `value` itself where it has the shape, every entry of which is an extent.
  absl::StatusOr<ValueId> Reshape(ValueId value, const Shape& shape);
  // `value` itself where it has the dtype.
  absl::StatusOr<ValueId> Cast(ValueId value, DType dtype);
  // Dimension d of the result is dimension axes[d].
  absl::StatusOr<ValueId> Transpose(ValueId value, const std::vector<int64_t>& axes);

 private:
  Graph& graph_;
  SourceLocation source_;
};

}  // namespace kiln::frontend

#endif  // KILN_COMPILER_FRONTEND_COMMON_ADDER_H_
