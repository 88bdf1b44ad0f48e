// SPDX-License-Identifier: Apache-2.0
// Tensors of an ONNX model as ONNX Runtime computes them, through its Python package.
#ifndef KILN_TOOLS_JUDGE_ONNX_RUNTIME_H_
#define KILN_TOOLS_JUDGE_ONNX_RUNTIME_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

struct OnnxRuntimeRun {
  std::string version;
  std::map<std::string, Tensor> tensors;  // the requested tensors that the model has
};

// Runs the model with `python`, which needs the packages onnx, onnxruntime and numpy. Optimizations
// of ONNX Runtime are off, so that every tensor is computed as in the file. InvalidArgument if the
// program or a package is missing. InvalidArgument, with its message, if ONNX Runtime refuses the
// model.
absl::StatusOr<OnnxRuntimeRun> RunOnnxRuntime(const std::string& python, const std::string& model,
                                              const std::map<std::string, Tensor>& inputs,
                                              const std::vector<std::string>& names);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_ONNX_RUNTIME_H_
