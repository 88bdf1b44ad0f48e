// SPDX-License-Identifier: Apache-2.0
// What the conversion of one ONNX node works with.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_
#define KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/common/adder.h"
#include "compiler/frontend/common/errors.h"
#include "compiler/frontend/onnx/item.h"
#include "compiler/frontend/onnx/operator_table.h"
#include "compiler/frontend/onnx/scope.h"
#include "compiler/graph/graph.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

class GraphImporter;

// One node, while it is converted: reads its inputs and attributes, adds operators to the graph,
// names the results.
class Converter : public frontend::Adder {
 public:
  // `inputs` are what the node's inputs are in `scope`.
  Converter(const onnx::NodeProto& node, const Scope& scope, SourceLocation source,
            std::vector<Item> inputs, GraphImporter& importer);

  const onnx::NodeProto& node() const { return node_; }
  // The version of the operator set of the node's domain.
  int opset() const { return opset_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // An optional input may be absent; -1 is no input of the operator.
  bool HasInput(int i) const {
    return i >= 0 && i < num_inputs() && !inputs_[static_cast<size_t>(i)].is_absent();
  }
  // InvalidArgument if the input is absent or no tensor.
  absl::StatusOr<ValueId> Input(int i) const;
  // What the input is, which may be no tensor; absent if there is no input i.
  Item InputItem(int i) const;
  // InvalidArgument if it is no sequence.
  absl::StatusOr<std::vector<ValueId>> SequenceInput(int i) const;
  // The value of an input that must be known at compile time. Unimplemented if it is not, naming
  // the input, and the model's inputs that it is computed from (import.h, InputsToFix).
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what) const;
  // The same of any value.
  absl::StatusOr<Tensor> ConstantValue(ValueId value, absl::string_view what) const;
  // The value, if it depends on constants alone and is within the bounds of an import
  // (frontend::ConstantFolder::ValueOf); nothing otherwise. Dequantized constants are included.
  absl::StatusOr<std::optional<Tensor>> KnownValue(ValueId value) const;

  // An attribute of another type counts as absent, and `attributes` says so.
  const absl::Status& attributes() const { return attributes_; }
  bool HasAttr(absl::string_view name) const { return FindAttr(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t otherwise) const;
  double Float(absl::string_view name, double otherwise) const;
  std::string String(absl::string_view name, std::string otherwise) const;
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> Floats(absl::string_view name) const;
  std::vector<std::string> Strings(absl::string_view name) const;
  // An attribute of a function's node may refer to one of the function, which may be absent.
  const onnx::AttributeProto* FindAttr(absl::string_view name) const;
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name) const;
  // Ints that are an attribute up to some opset and input `i` from then on; nothing if neither is
  // there.
  absl::StatusOr<std::optional<std::vector<int64_t>>> IntsAttrOrInput(absl::string_view name,
                                                                      int i) const;

  // Converts the node, which is one of this operator; the results are outputs().
  absl::Status Run(const OnnxOperator& op);
  // Converts this node as if it were the operator of ONNX, with these inputs, and returns what
  // would be its output 0. The attributes are this node's.
  absl::StatusOr<ValueId> Apply(absl::string_view op, std::vector<Item> inputs);
  // Makes constants of those of `values` that depend on constants alone, within bounds; a node's
  // outputs come to that of themselves.
  absl::Status Fold(const std::vector<ValueId*>& values);

  // An input of the model, behind those of the file, which a run finds filled with random numbers of the
  // distribution. It is called "y.noise" if the node's output is "y", and a note tells of it.
  ValueId AddNoise(TensorType type, absl::string_view distribution);

  // Whether something may read the node's output i.
  bool WantsOutput(int i) const;
  // Says what the node's output i is.
  void SetOutput(int i, Item item);
  // The same of what may be an error, which it returns.
  absl::Status Output(int i, absl::StatusOr<Item> item);
  const std::vector<Item>& outputs() const { return outputs_; }
  // That none of the outputs is known: what is in the way has been told.
  void SetOutputsUnknown();

  // The graph that is an attribute; InvalidArgument if there is none, or if it has other numbers of
  // inputs and outputs. -1: any number.
  absl::StatusOr<const onnx::GraphProto*> Body(absl::string_view attr, int num_inputs,
                                               int num_outputs) const;
  // Imports a body with these inputs, once more at each call, and returns its outputs. What cannot
  // be imported is told, and makes outputs that are unknown.
  absl::StatusOr<std::vector<Item>> ImportBody(const onnx::GraphProto& body,
                                               const std::vector<Item>& inputs);
  // Problems of the model that have been told so far.
  size_t num_problems() const;
  // Tells which operators of a body, which is not imported, are not supported.
  void CheckBody(const onnx::GraphProto& body);

 private:
  const onnx::AttributeProto* TypedAttr(absl::string_view name,
                                        onnx::AttributeProto::AttributeType type) const;
  // Makes float32 of the inputs that are float16; true if there was one.
  absl::StatusOr<bool> WidenInputs();
  // Rounds the outputs that are float32 to float16.
  absl::Status NarrowOutputs();

  const onnx::NodeProto& node_;
  const Scope& scope_;
  int opset_;
  std::vector<Item> inputs_;
  std::vector<Item> outputs_;
  GraphImporter& importer_;
  mutable absl::Status attributes_;
};

// The rows of each family; operators.cc joins them.
absl::Span<const OnnxOperator> ActivationOperators();
absl::Span<const OnnxOperator> CastOperators();
absl::Span<const OnnxOperator> ControlFlowOperators();
absl::Span<const OnnxOperator> ConvolutionOperators();
absl::Span<const OnnxOperator> ElementwiseOperators();
absl::Span<const OnnxOperator> LossOperators();
absl::Span<const OnnxOperator> MatrixOperators();
absl::Span<const OnnxOperator> MicrosoftOperators();
absl::Span<const OnnxOperator> NeuralOperators();
absl::Span<const OnnxOperator> NoiseOperators();
absl::Span<const OnnxOperator> NormalizationOperators();
absl::Span<const OnnxOperator> PadOperators();
absl::Span<const OnnxOperator> PoolingOperators();
absl::Span<const OnnxOperator> QuantizeLinearOperators();
absl::Span<const OnnxOperator> QuantizedMicrosoftOperators();
absl::Span<const OnnxOperator> QuantizedOperators();
absl::Span<const OnnxOperator> RecurrentOperators();
absl::Span<const OnnxOperator> ReductionOperators();
absl::Span<const OnnxOperator> ResizeOperators();
absl::Span<const OnnxOperator> SamplingOperators();
absl::Span<const OnnxOperator> ScatterOperators();
absl::Span<const OnnxOperator> SelectionOperators();
absl::Span<const OnnxOperator> SequenceOperators();
absl::Span<const OnnxOperator> ShapeOperators();
absl::Span<const OnnxOperator> SignalOperators();

// The table of all of them.
const OperatorTable& Operators();

// Says what InputsToFix (import.h) finds in a status; that it is the same as in another.
void SetInputsToFix(const std::vector<std::string>& names, absl::Status& status);
void CopyInputsToFix(const absl::Status& from, absl::Status& to);

using frontend::NormalAxes;
using frontend::NormalAxis;
using frontend::Wrong;

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_
