// SPDX-License-Identifier: Apache-2.0
#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

const OnnxOperator* FindOperator(absl::string_view domain, absl::string_view name) {
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  for (absl::Span<const OnnxOperator> rows :
       {ActivationOperators(), ElementwiseOperators(), LossOperators(), MatrixOperators(),
        NeuralOperators(), NormalizationOperators(), ReductionOperators(), SelectionOperators(),
        ShapeOperators(), SignalOperators()}) {
    for (const OnnxOperator& row : rows) {
      if (name == row.name) return &row;
    }
  }
  return nullptr;
}

}  // namespace kiln::onnx_frontend
