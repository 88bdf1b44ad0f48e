// SPDX-License-Identifier: Apache-2.0
// The interface for the conversion of one ONNX node.
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

// One node during its conversion. Reads its inputs and attributes, adds operators to the graph, and
// sets its outputs.
class Converter : public frontend::Adder {
 public:
  // `inputs` are the items of the node's inputs in `scope`.
  Converter(const onnx::NodeProto& node, const Scope& scope, SourceLocation source,
            std::vector<Item> inputs, GraphImporter& importer);

  const onnx::NodeProto& node() const { return node_; }
  // Returns the version of the operator set of the node's domain.
  int opset() const { return opset_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // True if input i is present. An optional input may be absent. -1 is never an input.
  bool HasInput(int i) const {
    return i >= 0 && i < num_inputs() && !inputs_[static_cast<size_t>(i)].is_absent();
  }
  // Returns the tensor of input i. InvalidArgument if it is absent or not a tensor.
  absl::StatusOr<ValueId> Input(int i) const;
  // Returns input i, which need not be a tensor. An absent item if there is no input i.
  Item InputItem(int i) const;
  // InvalidArgument if the input is not a sequence.
  absl::StatusOr<std::vector<ValueId>> SequenceInput(int i) const;
  // Returns the value of an input that must be known at compile time. Unimplemented if it is not
  // known. The message names the input and the model's inputs that it depends on (InputsToFix in
  // import.h).
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what) const;
  // Like ConstantInput, for any value.
  absl::StatusOr<Tensor> ConstantValue(ValueId value, absl::string_view what) const;
  // Returns the value if it depends only on constants and is within the limits of an import
  // (frontend::ConstantFolder::ValueOf), otherwise nothing. Dequantized constants are included.
  absl::StatusOr<std::optional<Tensor>> KnownValue(ValueId value) const;

  // The error for an attribute that was read with another type than it has. Such an attribute
  // counts as absent.
  const absl::Status& attributes() const { return attributes_; }
  bool HasAttr(absl::string_view name) const { return FindAttr(name) != nullptr; }
  int64_t Int(absl::string_view name, int64_t otherwise) const;
  double Float(absl::string_view name, double otherwise) const;
  std::string String(absl::string_view name, std::string otherwise) const;
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> Floats(absl::string_view name) const;
  std::vector<std::string> Strings(absl::string_view name) const;
  // Returns null if the node has no such attribute. In a function, a node's attribute may refer to
  // an attribute of the call, which may be absent.
  const onnx::AttributeProto* FindAttr(absl::string_view name) const;
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name) const;
  // Returns ints that are an attribute up to some opset, and input `i` in later ones. Nothing if
  // both are absent.
  absl::StatusOr<std::optional<std::vector<int64_t>>> IntsAttrOrInput(absl::string_view name,
                                                                      int i) const;

  // Converts the node with this operator. The results are in outputs().
  absl::Status Run(const OnnxOperator& op);
  // Converts this node as if it were the ONNX operator `op` with these inputs, and returns its
  // output 0. The attributes are those of this node.
  absl::StatusOr<ValueId> Apply(absl::string_view op, std::vector<Item> inputs);
  // Replaces each of `values` that depends only on constants by a constant, within limits. Outputs
  // of the node are folded automatically.
  absl::Status Fold(const std::vector<ValueId*>& values);

  // Adds an input of the model after those of the file. A run fills it with random numbers of
  // `distribution`. Its name is "y.noise" if the node's output is "y", and a note reports it.
  ValueId AddNoise(TensorType type, absl::string_view distribution);

  // True if output i of the node has a name, so that it may be read.
  bool WantsOutput(int i) const;
  // Sets output i of the node.
  void SetOutput(int i, Item item);
  // Sets output i, or returns the error of `item`.
  absl::Status Output(int i, absl::StatusOr<Item> item);
  const std::vector<Item>& outputs() const { return outputs_; }
  // Marks all outputs as unknown. The reason must have been reported.
  void SetOutputsUnknown();

  // Returns the graph in the attribute. InvalidArgument if there is none, or if its numbers of
  // inputs and outputs differ from the arguments. -1 accepts any number.
  absl::StatusOr<const onnx::GraphProto*> Body(absl::string_view attr, int num_inputs,
                                               int num_outputs) const;
  // Imports a copy of a body with these inputs and returns its outputs. Parts that cannot be
  // imported are reported, and their outputs are unknown.
  absl::StatusOr<std::vector<Item>> ImportBody(const onnx::GraphProto& body,
                                               const std::vector<Item>& inputs);
  // Returns the number of problems of the model reported so far.
  size_t num_problems() const;
  // Reports the unsupported operators of a body that is not imported.
  void CheckBody(const onnx::GraphProto& body);

 private:
  const onnx::AttributeProto* TypedAttr(absl::string_view name,
                                        onnx::AttributeProto::AttributeType type) const;
  // Converts the float16 inputs to float32. Returns true if there was one.
  absl::StatusOr<bool> WidenInputs();
  // Rounds the float32 outputs to float16.
  absl::Status NarrowOutputs();

  const onnx::NodeProto& node_;
  const Scope& scope_;
  int opset_;
  std::vector<Item> inputs_;
  std::vector<Item> outputs_;
  GraphImporter& importer_;
  mutable absl::Status attributes_;
};

// The rows of each family. operators.cc joins them.
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

// Returns the table of all operators.
const OperatorTable& Operators();

// Set the names that InputsToFix (import.h) returns for a status, or copy them from another status.
void SetInputsToFix(const std::vector<std::string>& names, absl::Status& status);
void CopyInputsToFix(const absl::Status& from, absl::Status& to);

// Returns the options that fix these inputs, as "--constant a=VALUE --constant b=VALUE".
std::string OptionsToFix(const std::vector<std::string>& inputs);

using frontend::NormalAxes;
using frontend::NormalAxis;
using frontend::Wrong;

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONVERTER_H_
