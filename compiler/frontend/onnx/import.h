// SPDX-License-Identifier: Apache-2.0
// ONNX import: converts a model file to a Graph of Relay operators.
//
//   KILN_ASSIGN_OR_RETURN(Graph graph, ImportOnnx(bytes, "model.onnx", {}, EvaluateConstants));
//
// Names of inputs, outputs and nodes are kept (a node's name in its SourceLocation). Initializers
// become constants. Arithmetic on shapes, as exporters write it, is folded during the import. The
// operators are rows of tables (converter.h).
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

// `bytes` are untrusted. Errors have the form "model.onnx: node 'conv1' (Conv): …". All unsupported
// operators are reported at once. External data is read only from the folder of `path`. All values
// of the result have types.
absl::StatusOr<Graph> ImportOnnx(absl::string_view bytes, const std::string& path,
                                 const ImportOptions& options, const Evaluator& evaluate);

// Returns the inputs that must be constants according to `error` of ImportOnnx: an operator needs
// their value, such as a shape, when the model is compiled. Empty for other errors.
std::vector<std::string> InputsToFix(const absl::Status& error);

struct ModelInterface {
  std::vector<ModelPort> inputs;  // without initializers
  std::vector<ModelPort> outputs;
};
// InvalidArgument, naming `path`, if the bytes are not an ONNX model.
absl::StatusOr<ModelInterface> ReadInterface(absl::string_view bytes, const std::string& path);

// Returns the operators of a domain, such as "ai.onnx" or "com.microsoft", that can be imported.
std::set<std::string> OperatorNames(absl::string_view domain);

// Returns the value of a serialized onnx.TensorProto, such as a test's input_0.pb.
absl::StatusOr<Tensor> ParseOnnxTensor(absl::string_view bytes);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_IMPORT_H_
