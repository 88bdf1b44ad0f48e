// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

const TfliteOperator* FindOperator(tflite_schema::BuiltinOperator code) {
  for (absl::Span<const TfliteOperator> rows :
       {ElementwiseOperators(), NeuralOperators(), WindowOperators(), ReductionOperators(),
        ShapeOperators(), SliceOperators(), IndexOperators(), RecurrentOperators(),
        SpectrumOperators()}) {
    for (const TfliteOperator& row : rows) {
      if (code == row.code) return &row;
    }
  }
  return nullptr;
}

}  // namespace kiln::tflite_frontend
