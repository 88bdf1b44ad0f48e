// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/gelu.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"

namespace kiln {
namespace {

// Relative tolerance for constants, as models write them with few digits.
constexpr double kTolerance = 1e-6;

bool Near(double value, double wanted) { return std::abs(value / wanted - 1) < kTolerance; }

// scale * values[0] * values[1] * …
struct Product {
  double scale = 1;
  std::vector<ValueId> values;
};

void MultiplyFactors(const Graph& graph, const std::vector<ValueId>& factors, bool further,
                     Product& p) {
  for (const ValueId factor : factors) {
    const std::optional<double> scalar = ScalarOf(graph, factor);
    const Node* product = ProducerIf(graph, factor, "multiply");
    if (scalar.has_value()) {
      p.scale *= *scalar;
    } else if (product != nullptr && further) {
      MultiplyFactors(graph, product->inputs, false, p);
    } else {
      p.values.push_back(factor);
    }
  }
}

// A value as scale * x: a product with a scalar or a quotient by one. For other values, scale is 1.
struct Scaled {
  double scale = 1;
  ValueId x = kNoId;
};

Scaled ScaledBy(const Graph& graph, ValueId value) {
  if (const Node* product = ProducerIf(graph, value, "multiply")) {
    for (const size_t k : {0, 1}) {
      const std::optional<double> scalar = ScalarOf(graph, product->inputs[k]);
      if (scalar.has_value()) return {*scalar, product->inputs[1 - k]};
    }
  }
  if (const Node* quotient = ProducerIf(graph, value, "divide")) {
    const std::optional<double> divisor = ScalarOf(graph, quotient->inputs[1]);
    if (divisor.has_value()) return {1 / *divisor, quotient->inputs[0]};
  }
  return {1, value};
}

// True if the value is (0.5 + 0.5 erf(x / sqrt(2))) / scale.
bool IsDistribution(const Graph& graph, ValueId value, ValueId x, double scale) {
  const Node* sum = ProducerIf(graph, value, "add");
  if (sum == nullptr) return false;
  for (const size_t k : {0, 1}) {
    const std::optional<double> offset = ScalarOf(graph, sum->inputs[k]);
    if (!offset.has_value()) continue;
    const Scaled term = ScaledBy(graph, sum->inputs[1 - k]);
    const Node* erf = ProducerIf(graph, term.x, "erf");
    if (erf == nullptr) return false;
    const Scaled argument = ScaledBy(graph, erf->inputs[0]);
    return argument.x == x && Near(argument.scale, 1 / std::numbers::sqrt2) &&
           Near(scale * *offset, 0.5) && Near(scale * term.scale, 0.5);
  }
  return false;
}

// Adds nn.gelu of x. If x is reshaped, the reshape goes after nn.gelu, so that the GELU is next to
// the operator that computes its input.
absl::StatusOr<ValueId> MakeGelu(Graph& graph, ValueId x, const SourceLocation& source) {
  const Node* reshape = ProducerOf(graph, x);
  if (reshape == nullptr || !Reshapes(*reshape)) return AddOp(graph, "nn.gelu", {x}, {}, source);
  const Shape shape = graph.type(x).shape;
  KILN_ASSIGN_OR_RETURN(const ValueId gelu,
                        AddOp(graph, "nn.gelu", {reshape->inputs[0]}, {}, source));
  return MakeReshape(graph, gelu, shape, source);
}

}  // namespace

absl::StatusOr<std::vector<ValueId>> AsGelu(Graph& graph, const Node& node,
                                            const std::vector<ValueId>& inputs) {
  Product product;
  MultiplyFactors(graph, inputs, true, product);
  if (product.values.size() != 2) return std::vector<ValueId>();
  for (const size_t k : {0, 1}) {
    const ValueId x = product.values[k];
    const TensorType& type = graph.type(x);
    if (type.dtype != DType::Float(32) && type.dtype != DType::Float(64)) continue;
    if (!IsDistribution(graph, product.values[1 - k], x, product.scale)) continue;
    // A scalar input of a higher rank would have given the result that rank.
    const size_t rank = type.shape.size();
    for (const ValueId input : inputs) {
      if (graph.type(input).shape.size() > rank) return std::vector<ValueId>();
    }
    KILN_ASSIGN_OR_RETURN(const ValueId gelu, MakeGelu(graph, x, node.source));
    return std::vector<ValueId>{gelu};
  }
  return std::vector<ValueId>();
}

}  // namespace kiln
