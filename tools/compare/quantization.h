// SPDX-License-Identifier: Apache-2.0
// How the integers of a model's tensors stand for real numbers.
#ifndef KILN_TOOLS_COMPARE_QUANTIZATION_H_
#define KILN_TOOLS_COMPARE_QUANTIZATION_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"

namespace kiln::tools {

// real = scale * (value - zero_point), for the whole tensor.
struct TensorScale {
  double scale = 1;
  int64_t zero_point = 0;
  std::string real_name;  // the tensor of real numbers that it was made of; may be empty
  friend bool operator==(const TensorScale&, const TensorScale&) = default;
};
using TensorScales = std::map<std::string, TensorScale>;

// The scales of the integer tensors of a model by name: `bytes` are those of the file that `graph`
// was imported from. A TFLite file says them; in ONNX and Relay the operators do. Tensors with
// several scales are left out.
absl::StatusOr<TensorScales> ScalesOf(const Graph& graph, absl::string_view bytes,
                                      const std::string& path);

// The real numbers, as float64.
Tensor Dequantize(const Tensor& tensor, const TensorScale& scale);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_COMPARE_QUANTIZATION_H_
