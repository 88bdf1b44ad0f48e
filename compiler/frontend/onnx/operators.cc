// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/machine_learning.h"
#include "compiler/frontend/onnx/transformer.h"

namespace kiln::onnx_frontend {

namespace {

std::vector<absl::Span<const OnnxOperator>> Families() {
  return {ActivationOperators(),
          CastOperators(),
          ControlFlowOperators(),
          ConvolutionOperators(),
          ElementwiseOperators(),
          FeatureOperators(),
          LinearOperators(),
          LossOperators(),
          MatrixOperators(),
          MicrosoftOperators(),
          NeuralOperators(),
          NoiseOperators(),
          NormalizationOperators(),
          PadOperators(),
          PoolingOperators(),
          QuantizeLinearOperators(),
          QuantizedMicrosoftOperators(),
          QuantizedOperators(),
          RecurrentOperators(),
          ReductionOperators(),
          ResizeOperators(),
          SamplingOperators(),
          ScatterOperators(),
          SelectionOperators(),
          SequenceOperators(),
          ShapeOperators(),
          SignalOperators(),
          TransformerOperators(),
          TreeOperators()};
}

}  // namespace

const OperatorTable& Operators() {
  static const OperatorTable& table = *new OperatorTable(Families());
  return table;
}

std::set<std::string> OperatorNames(absl::string_view domain) { return Operators().Names(domain); }

}  // namespace kiln::onnx_frontend
