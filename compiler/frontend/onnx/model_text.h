// SPDX-License-Identifier: Apache-2.0
// Models in protobuf's text form, for tests of the importer.
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

// Returns the type of a float32 tensor with the shape "2,3".
std::string TensorType(absl::string_view shape);
// Returns an input of the graph with that type.
std::string Input(absl::string_view name, absl::string_view shape);
// Return initializers: int64 of one dimension, or float32 with `dims` in protobuf's text form.
std::string Ints(absl::string_view name, const std::vector<int64_t>& values);
std::string Floats(absl::string_view name, absl::string_view dims,
                   const std::vector<float>& values);
// Return an attribute of a node.
std::string Attr(absl::string_view name, int64_t value);
std::string Attr(absl::string_view name, absl::string_view value);
std::string Attr(absl::string_view name, const std::vector<int64_t>& values);
// Returns a node named "n" with the inputs "x,,y" and the output "y".
std::string Node(absl::string_view op, absl::string_view inputs, absl::string_view rest = "");
// Returns the bytes of a model with the output "y". `rest` is placed next to the graph.
std::string Model(absl::string_view graph, int opset = 13, absl::string_view rest = "");

absl::StatusOr<Graph> Import(const std::string& bytes, const std::vector<InputPin>& pins = {});
// Returns the Relay text of the imported model, or the error.
std::string Text(const std::string& bytes, const std::vector<InputPin>& pins = {});
// A model that is refused, and a part of the error.
struct Refusal {
  std::string model;
  std::string text;
};
void ExpectRefusals(const std::vector<Refusal>& refusals);
// Returns the values of a model without inputs, as computed by the importer.
std::vector<double> Values(const std::string& bytes);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_MODEL_TEXT_H_
