// SPDX-License-Identifier: Apache-2.0
// Models whose values are computed, beside values from elsewhere.
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
// A vector of int64; a tensor of uint8.
Given Ints(const char* name, const std::vector<double>& values);
Given Bytes(const char* name, const std::vector<int64_t>& shape, const std::vector<double>& values);

// An attribute, to be added to a node's text.
std::string Attr(const char* name, const char* value);
std::string Attr(const char* name, int value);
std::string Attr(const char* name, double value);
std::string Attr(const char* name, const std::vector<int>& values);
std::string FloatsAttr(const char* name, const std::vector<double>& values);
std::string StringsAttr(const char* name, const std::vector<std::string>& values);

struct ModelCase {
  std::string node;  // as text, without inputs' values; its output is 'y'
  std::vector<Given> inputs;
  std::vector<double> expected;
  int opset = 18;
  bool at_run_time = false;              // `inputs` are inputs of the model, and no initializers
  std::vector<Given> initializers = {};  // that are known at any rate
};

// The value of 'y'. An import that fails is an error.
absl::StatusOr<Tensor> TensorOf(const ModelCase& test);
absl::StatusOr<std::vector<double>> ValuesOf(const ModelCase& test);

// That each has its values, within 1e-5.
void ExpectValues(const std::vector<ModelCase>& cases);

// A node of the domain ai.onnx.ml, as text; inputs and outputs are quoted.
std::string MachineLearningNode(const char* op, const std::string& attributes,
                                const char* outputs = "'y'", const char* inputs = "'x'");

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_VALUES_OF_H_
