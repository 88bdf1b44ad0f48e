// SPDX-License-Identifier: Apache-2.0
// Models in the text form of protobuf, for tests of the importer.
//
//   const std::string model =
//       Model(Input("x", "2,3") + "node { op_type: 'Relu' input: 'x' output: 'y' }");
//   EXPECT_THAT(Text(model), HasSubstr("nn.relu"));
#ifndef KILN_COMPILER_FRONTEND_ONNX_MODEL_TEXT_H_
#define KILN_COMPILER_FRONTEND_ONNX_MODEL_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/import.h"

namespace kiln::onnx_frontend {

// The type of a float32 tensor of the shape "2,3".
std::string TensorType(absl::string_view shape);
// An input of the graph, of that type.
std::string Input(absl::string_view name, absl::string_view shape);
// Initializers: int64 of one dimension; float32 with `dims` in protobuf's text form.
std::string Ints(absl::string_view name, const std::vector<int64_t>& values);
std::string Floats(absl::string_view name, absl::string_view dims,
                   const std::vector<float>& values);
// An attribute of a node.
std::string Attr(absl::string_view name, int64_t value);
std::string Attr(absl::string_view name, absl::string_view value);
std::string Attr(absl::string_view name, const std::vector<int64_t>& values);
// A node with the name "n", the inputs "x,,y" and the output "y".
std::string Node(absl::string_view op, absl::string_view inputs, absl::string_view rest = "");
// The bytes of a model with the output "y"; `rest` stands beside the graph.
std::string Model(absl::string_view graph, int opset = 13, absl::string_view rest = "");

absl::StatusOr<Graph> Import(const std::string& bytes, const std::vector<InputPin>& pins = {});
// The Relay text of the imported model, or the error.
std::string Text(const std::string& bytes, const std::vector<InputPin>& pins = {});
// A model that is refused, and words of the error.
struct Refusal {
  std::string model;
  std::string text;
};
void ExpectRefusals(const std::vector<Refusal>& refusals);
// The values of a model without inputs: the importer has computed them.
std::vector<double> Values(const std::string& bytes);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_TEXT_H_
