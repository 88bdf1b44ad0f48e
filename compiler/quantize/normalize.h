// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_QUANTIZE_NORMALIZE_H_
#define KILN_COMPILER_QUANTIZE_NORMALIZE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/quantize/network.h"

namespace kiln::quantize {

// Writes a network in the way that quantizing wants it; it computes what it did before, but for
// rounding:
//   - its opset is `opset` or later (an older one is converted by ONNX's own converter);
//   - what depends on constants alone is a constant;
//   - a BatchNormalization behind a Conv is part of the Conv's weights and bias, an Add of one
//     constant per channel is its bias;
//   - Gemm has alpha = beta = 1 and a bias of rank 1, where its factor and its bias are constants;
//   - masks of Dropout and indices of MaxPool that nothing reads are not computed;
//   - every node has a name: that of its first output where it had none.
// `types`: of the values, for the converter. Unimplemented if the opset cannot be converted.
absl::Status Normalize(Network& network, int opset, const std::map<std::string, TensorType>& types,
                       const onnx_frontend::Evaluator& evaluate);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_NORMALIZE_H_
