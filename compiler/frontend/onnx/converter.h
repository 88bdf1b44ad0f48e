// SPDX-License-Identifier: Apache-2.0
// What the conversion of one ONNX node works with.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_
#define KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// One node, while it is converted: reads its inputs and attributes, adds operators to the graph,
// names the results.
class Converter {
 public:
  Converter(const onnx::NodeProto& node, int opset, const std::string& folder,
            SourceLocation source, std::vector<ValueId> inputs, Graph& graph)
      : node_(node),
        opset_(opset),
        folder_(folder),
        source_(std::move(source)),
        inputs_(std::move(inputs)),
        graph_(graph) {}

  const onnx::NodeProto& node() const { return node_; }
  int opset() const { return opset_; }
  Graph& graph() { return graph_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // An optional input may be absent.
  bool HasInput(int i) const {
    return i < num_inputs() && inputs_[static_cast<size_t>(i)] != kNoId;
  }
  // InvalidArgument if the input is absent.
  absl::StatusOr<ValueId> Input(int i) const;
  // A copy: the graph's own moves as operators are added.
  TensorType type(ValueId value) const { return graph_.type(value); }
  // The value of an input that must be known at compile time. Unimplemented if it is not, naming
  // the input, and the model's inputs that it is computed from (import.h, InputsToFix).
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what) const;

  bool HasAttr(absl::string_view name) const { return FindAttr(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t otherwise) const;
  double Float(absl::string_view name, double otherwise) const;
  std::string String(absl::string_view name, std::string otherwise) const;
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise = {}) const;
  const onnx::AttributeProto* FindAttr(absl::string_view name) const;
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name) const;
  // Ints that are an attribute up to some opset and input `i` from then on; nothing if neither is
  // there.
  absl::StatusOr<std::optional<std::vector<int64_t>>> IntsAttrOrInput(absl::string_view name,
                                                                      int i) const;

  // Adds a Relay operator with one output, of this node's source location.
  absl::StatusOr<ValueId> Op(absl::string_view relay_op, std::vector<ValueId> inputs,
                             Attrs attrs = {});
  // Adds one whose result is a tuple.
  absl::StatusOr<std::vector<ValueId>> TupleOp(absl::string_view relay_op,
                                               std::vector<ValueId> inputs, Attrs attrs = {});
  ValueId Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  absl::StatusOr<ValueId> Reshape(ValueId value, const Shape& shape);

  // Says what the node's output i is.
  void SetOutput(int i, ValueId value);
  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  const onnx::NodeProto& node_;
  int opset_;
  const std::string& folder_;
  SourceLocation source_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  Graph& graph_;
};

// How an operator is converted.
using Convert = absl::Status (*)(Converter&);

// A row of the table of operators.
struct OnnxOperator {
  const char* name;
  Convert convert;  // null: `relay` with the same inputs
  const char* relay = nullptr;
};

// The rows of each family; operators.cc joins them.
absl::Span<const OnnxOperator> ActivationOperators();
absl::Span<const OnnxOperator> ElementwiseOperators();
absl::Span<const OnnxOperator> LossOperators();
absl::Span<const OnnxOperator> MatrixOperators();
absl::Span<const OnnxOperator> NeuralOperators();
absl::Span<const OnnxOperator> NormalizationOperators();
absl::Span<const OnnxOperator> ReductionOperators();
absl::Span<const OnnxOperator> SelectionOperators();
absl::Span<const OnnxOperator> ShapeOperators();
absl::Span<const OnnxOperator> SignalOperators();

// Null if there is none.
const OnnxOperator* FindOperator(absl::string_view domain, absl::string_view name);

// Gives a status that was made of another what InputsToFix finds in that.
void CopyInputsToFix(const absl::Status& from, absl::Status& to);

// InvalidArgument: `what` of a node, found and wanted.
absl::Status Wrong(absl::string_view what, absl::string_view found, absl::string_view wanted);

// A non-negative axis of a tensor of `rank` dimensions.
absl::StatusOr<int64_t> NormalAxis(int64_t axis, int rank);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_
