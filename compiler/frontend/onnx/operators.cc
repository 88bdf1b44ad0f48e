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

absl::string_view NormalDomain(absl::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

namespace {

std::vector<absl::Span<const OnnxOperator>> Families() {
  return {ActivationOperators(),    ControlFlowOperators(),
          ConvolutionOperators(),   ElementwiseOperators(),
          FeatureOperators(),       LinearOperators(),
          LossOperators(),          MatrixOperators(),
          MicrosoftOperators(),     NeuralOperators(),
          NormalizationOperators(), PadOperators(),
          PoolingOperators(),       QuantizedMicrosoftOperators(),
          QuantizedOperators(),     RecurrentOperators(),
          ReductionOperators(),     ResizeOperators(),
          SamplingOperators(),      ScatterOperators(),
          SelectionOperators(),     SequenceOperators(),
          ShapeOperators(),         SignalOperators(),
          TransformerOperators(),   TreeOperators()};
}

}  // namespace

const OnnxOperator* FindOperator(absl::string_view domain, absl::string_view name) {
  for (absl::Span<const OnnxOperator> rows : Families()) {
    for (const OnnxOperator& row : rows) {
      if (name == row.name && NormalDomain(domain) == row.domain) return &row;
    }
  }
  return nullptr;
}

std::set<std::string> OperatorNames(absl::string_view domain) {
  std::set<std::string> names;
  for (absl::Span<const OnnxOperator> rows : Families()) {
    for (const OnnxOperator& row : rows) {
      if (NormalDomain(domain) == row.domain) names.insert(row.name);
    }
  }
  return names;
}

}  // namespace kiln::onnx_frontend
