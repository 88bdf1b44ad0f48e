// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_QUANTIZE_NORMALIZE_H_
#define KILN_COMPILER_QUANTIZE_NORMALIZE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/quantize/network.h"

namespace kiln::quantize {

// Rewrites a network to the form that quantization expects. Its results change only by rounding.
//   - The opset is `opset` or later. ONNX's own converter converts an older one.
//   - Values that depend only on constants are constants.
//   - A BatchNormalization after a Conv is part of the Conv's weights and bias, and an Add of one
//     constant per channel is part of its bias.
//   - Gemm has alpha = beta = 1 and a bias of rank 1, if its second factor and its bias are
//     constants.
//   - Masks of Dropout and indices of MaxPool that nothing reads are not computed.
//   - Every node has a name. A node without one is named after its first output.
// `types` are the types of the values, for the converter. Unimplemented if the opset cannot be
// converted.
absl::Status Normalize(Network& network, int opset, const std::map<std::string, TensorType>& types,
                       const onnx_frontend::Evaluator& evaluate);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_NORMALIZE_H_
