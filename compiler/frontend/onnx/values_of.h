// SPDX-License-Identifier: Apache-2.0
// Models whose values are computed and compared with values from elsewhere.
#ifndef KILN_COMPILER_FRONTEND_ONNX_VALUES_OF_H_
#define KILN_COMPILER_FRONTEND_ONNX_VALUES_OF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

struct Given {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<double> values;
  int elem_type = onnx::TensorProto::FLOAT;
};
// Return a vector of int64, and a tensor of uint8.
Given Ints(const char* name, const std::vector<double>& values);
Given Bytes(const char* name, const std::vector<int64_t>& shape, const std::vector<double>& values);

// Return an attribute as text, to be appended to a node's text.
std::string Attr(const char* name, const char* value);
std::string Attr(const char* name, int value);
std::string Attr(const char* name, double value);
std::string Attr(const char* name, const std::vector<int>& values);
std::string FloatsAttr(const char* name, const std::vector<double>& values);
std::string StringsAttr(const char* name, const std::vector<std::string>& values);

struct ModelCase {
  std::string node;  // node as text, without input values; its output is 'y'
  std::vector<Given> inputs;
  std::vector<double> expected;
  int opset = 18;
  bool at_run_time = false;              // `inputs` are inputs of the model, not initializers
  std::vector<Given> initializers = {};  // always known
};

// Return the value of 'y'. A failed import is an error.
absl::StatusOr<Tensor> TensorOf(const ModelCase& test);
absl::StatusOr<std::vector<double>> ValuesOf(const ModelCase& test);

// Checks that each case has the expected values, within 1e-5.
void ExpectValues(const std::vector<ModelCase>& cases);

// Returns a node of the domain ai.onnx.ml as text. Inputs and outputs are quoted.
std::string MachineLearningNode(const char* op, const std::string& attributes,
                                const char* outputs = "'y'", const char* inputs = "'x'");

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_VALUES_OF_H_
