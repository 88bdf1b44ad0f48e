// SPDX-License-Identifier: Apache-2.0
// ONNX import: a model file becomes a Graph of Relay operators.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportOnnx(bytes, "model.onnx", {}, EvaluateConstants));
//
// Names of inputs, outputs and nodes are kept (a node's in its SourceLocation). Initializers become
// constants. What exporters compute of shapes is folded on the way. The operators are rows of
// tables: converter.h.
#ifndef KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_
#define KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/common/import_options.h"
#include "compiler/graph/graph.h"

namespace kiln::onnx_frontend {

using frontend::Evaluator;
using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;
using frontend::ParseInputPin;

// `bytes` are untrusted. Errors: "model.onnx: node 'conv1' (Conv): …"; all operators that are not
// supported are told at once. External data is read from the folder of `path` alone. All values of
// the result have types.
absl::StatusOr<Graph> ImportOnnx(absl::string_view bytes, const std::string& path,
                                 const ImportOptions& options, const Evaluator& evaluate);

// Inputs that `error` of ImportOnnx says have to be constants: an operator of the model needs a
// value of its, such as a shape, when the model is compiled. Empty for other errors.
std::vector<std::string> InputsToFix(const absl::Status& error);

struct ModelInterface {
  std::vector<ModelPort> inputs;  // that are no initializers
  std::vector<ModelPort> outputs;
};
// InvalidArgument, naming `path`, if the bytes are no ONNX model.
absl::StatusOr<ModelInterface> ReadInterface(absl::string_view bytes, const std::string& path);

// The operators of a domain that can be imported: "ai.onnx" or "com.microsoft".
std::set<std::string> OperatorNames(absl::string_view domain);

// The value of a serialized onnx.TensorProto, such as a test's input_0.pb.
absl::StatusOr<Tensor> ParseOnnxTensor(absl::string_view bytes);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_
