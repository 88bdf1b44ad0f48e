// SPDX-License-Identifier: Apache-2.0
#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::string_view NormalDomain(absl::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

const OnnxOperator* FindOperator(absl::string_view domain, absl::string_view name) {
  for (absl::Span<const OnnxOperator> rows :
       {ActivationOperators(), ControlFlowOperators(), ConvolutionOperators(),
        ElementwiseOperators(), LossOperators(), MatrixOperators(), MicrosoftOperators(),
        NeuralOperators(), NormalizationOperators(), PoolingOperators(), QuantizedOperators(),
        RecurrentOperators(), ReductionOperators(), ResizeOperators(), ScatterOperators(),
        SelectionOperators(), SequenceOperators(), ShapeOperators(), SignalOperators()}) {
    for (const OnnxOperator& row : rows) {
      if (name == row.name && NormalDomain(domain) == row.domain) return &row;
    }
  }
  return nullptr;
}

}  // namespace kiln::onnx_frontend
