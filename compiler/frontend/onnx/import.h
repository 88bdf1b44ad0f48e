// SPDX-License-Identifier: Apache-2.0
// ONNX import: a model file becomes a Graph of Relay operators.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportOnnx(bytes, "model.onnx", {}, EvaluateConstants));
//
// Names of inputs, outputs and nodes are kept (a node's in its SourceLocation). Initialisers become
// constants. What exporters compute of shapes is folded on the way. The operators are rows of
// tables: converter.h.
#ifndef KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_
#define KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"

namespace kiln::onnx_frontend {

// The shape, and perhaps the dtype, that the user gives to an input: takes the place of dynamic
// dimensions.
struct InputPin {
  std::string name;
  Shape shape;
  std::optional<DType> dtype;
};

// "data:1x3x224x224" or "data:1x3x224x224:float32"; a scalar is "x:". The name may contain ':'.
// InvalidArgument with the form that is wanted.
absl::StatusOr<InputPin> ParseInputPin(absl::string_view text);

// What the user says of a model's inputs.
struct ImportOptions {
  std::vector<InputPin> pins;
  // Inputs that are fixed: they are constants of the graph, and none of its inputs.
  std::map<std::string, Tensor> constants;
};

// Computes the outputs of a graph without inputs.
using Evaluator = std::function<absl::StatusOr<std::vector<Tensor>>(const Graph&)>;

// `bytes` are untrusted. Errors: "model.onnx: node 'conv1' (Conv): …"; all operators that are not
// supported are told at once. External data is read from the folder of `path` alone. All values of
// the result have types.
absl::StatusOr<Graph> ImportOnnx(absl::string_view bytes, const std::string& path,
                                 const ImportOptions& options, const Evaluator& evaluate);

// Inputs that `error` of ImportOnnx says have to be constants: an operator of the model needs a
// value of its, such as a shape, when the model is compiled. Empty for other errors.
std::vector<std::string> InputsToFix(const absl::Status& error);

// An input or an output of a model.
struct ModelPort {
  std::string name;
  std::string kind;            // "tensor", "sequence", "map", "optional" or "sparse tensor"
  std::optional<DType> dtype;  // of tensors, if Kiln has it
  std::optional<int> rank;     // of tensors, if the model says it
};
struct ModelInterface {
  std::vector<ModelPort> inputs;  // that are no initialisers
  std::vector<ModelPort> outputs;
};
// InvalidArgument, naming `path`, if the bytes are no ONNX model.
absl::StatusOr<ModelInterface> ReadInterface(absl::string_view bytes, const std::string& path);

// The value of a serialised onnx.TensorProto, such as a test's input_0.pb.
absl::StatusOr<Tensor> ParseOnnxTensor(absl::string_view bytes);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_
