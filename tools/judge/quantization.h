// SPDX-License-Identifier: Apache-2.0
// Scales and zero points of a model's integer tensors.
#ifndef KILN_TOOLS_JUDGE_QUANTIZATION_H_
#define KILN_TOOLS_JUDGE_QUANTIZATION_H_

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
  std::string real_name;  // the real tensor from which it is made; may be empty
  friend bool operator==(const TensorScale&, const TensorScale&) = default;
};
using TensorScales = std::map<std::string, TensorScale>;

// Returns the scales of the integer tensors of a model, keyed by name. `bytes` are those of the
// file from which `graph` was imported. A TFLite file contains the scales; in ONNX and Relay,
// operators define them. Tensors with several scales are left out.
absl::StatusOr<TensorScales> ScalesOf(const Graph& graph, absl::string_view bytes,
                                      const std::string& path);

// Returns the real numbers, as float64.
Tensor Dequantize(const Tensor& tensor, const TensorScale& scale);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_QUANTIZATION_H_
