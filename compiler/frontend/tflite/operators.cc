// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

const TfliteOperator* FindOperator(const OperatorInfo& op) {
  for (absl::Span<const TfliteOperator> rows :
       {ElementwiseOperators(), NeuralOperators(), WindowOperators(), ReductionOperators(),
        ShapeOperators(), SliceOperators(), IndexOperators(), RecurrentOperators(),
        SpectrumOperators(), SignalOperators()}) {
    for (const TfliteOperator& row : rows) {
      if (op.code == row.code && op.custom_name == row.custom_name) return &row;
    }
  }
  return nullptr;
}

}  // namespace kiln::tflite_frontend
