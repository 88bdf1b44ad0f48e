// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/input_readers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace kiln::onnx_frontend {
namespace {

using frontend::Extent;
using frontend::ModelPort;

// Initializers, keyed by name.
using Weights = std::map<std::string, const onnx::TensorProto*>;

// The extent that a reader requires of a dimension of its first operand.
struct Wanted {
  int64_t dimension;  // negative: counted from the end, -1 is the last
  int64_t size;
};

const onnx::AttributeProto* FindAttribute(const onnx::NodeProto& node, absl::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t IntOf(const onnx::NodeProto& node, absl::string_view name, int64_t otherwise) {
  const onnx::AttributeProto* const attribute = FindAttribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

int64_t CountOfFloats(const onnx::NodeProto& node, absl::string_view name) {
  const onnx::AttributeProto* const attribute = FindAttribute(node, name);
  return attribute == nullptr ? 0 : attribute->floats_size();
}

bool IsRecurrent(const onnx::NodeProto& node) {
  return node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN";
}

bool IsConvolution(const onnx::NodeProto& node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvInteger" ||
         node.op_type() == "QLinearConv";
}

// Returns dimension `d` of operand `i` (negative: counted from the end). Absent if the operand is
// not an initializer or has no such dimension.
std::optional<int64_t> WeightExtent(const onnx::NodeProto& node, int i, int d,
                                    const Weights& weights) {
  if (i >= node.input_size()) return std::nullopt;
  const auto found = weights.find(node.input(i));
  if (found == weights.end()) return std::nullopt;
  const auto& dims = found->second->dims();
  const int at = d < 0 ? dims.size() + d : d;
  if (at < 0 || at >= dims.size()) return std::nullopt;
  return dims[at];
}

std::optional<Wanted> WantedOf(int64_t dimension, std::optional<int64_t> size) {
  if (!size.has_value() || *size <= 0) return std::nullopt;
  return Wanted{dimension, *size};
}

// Returns the number of features that an operator of ai.onnx.ml reads per sample, derived from its
// parameters.
std::optional<int64_t> FeaturesOf(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (op == "Scaler") return std::max(CountOfFloats(node, "offset"), CountOfFloats(node, "scale"));
  if (op == "LinearRegressor") {
    return CountOfFloats(node, "coefficients") / std::max<int64_t>(IntOf(node, "targets", 1), 1);
  }
  if (op == "LinearClassifier") {
    return CountOfFloats(node, "coefficients") /
           std::max<int64_t>(CountOfFloats(node, "intercepts"), 1);
  }
  if (op == "SVMRegressor") {
    return CountOfFloats(node, "support_vectors") /
           std::max<int64_t>(IntOf(node, "n_supports", 0), 1);
  }
  if (absl::StartsWith(op, "TreeEnsemble")) {
    const onnx::AttributeProto* const ids = FindAttribute(node, "nodes_featureids");
    if (ids == nullptr || ids->ints().empty()) return std::nullopt;
    const int64_t last = *std::max_element(ids->ints().begin(), ids->ints().end());
    constexpr int64_t kMostFeatures = int64_t{1} << 24;
    if (last < 0 || last >= kMostFeatures) return std::nullopt;
    return last + 1;  // a lower bound
  }
  return std::nullopt;
}

std::optional<Wanted> WantedBy(const onnx::NodeProto& node, const Weights& weights) {
  const std::string& op = node.op_type();
  if (IsConvolution(node)) {
    const auto channels = WeightExtent(node, op == "QLinearConv" ? 3 : 1, 1, weights);
    int64_t all = 0;
    if (!channels.has_value() || __builtin_mul_overflow(*channels, IntOf(node, "group", 1), &all)) {
      return std::nullopt;
    }
    return WantedOf(1, all);
  }
  if (op == "MatMul") return WantedOf(-1, WeightExtent(node, 1, -2, weights));
  if (op == "Gemm" && IntOf(node, "transA", 0) == 0) {
    return WantedOf(-1, WeightExtent(node, 1, IntOf(node, "transB", 0) == 0 ? 0 : 1, weights));
  }
  if (IsRecurrent(node)) {
    return WantedOf(-1, WeightExtent(node, 1, 2, weights));
  }
  if (op == "BatchNormalization") return WantedOf(1, WeightExtent(node, 1, 0, weights));
  if (op == "LayerNormalization" && IntOf(node, "axis", -1) == -1) {
    return WantedOf(-1, WeightExtent(node, 1, -1, weights));
  }
  return WantedOf(-1, FeaturesOf(node));
}

// True if the result of the operator has the shape of its first operand and can replace it here.
bool PassesOn(const onnx::NodeProto& node) {
  return node.op_type() == "Cast" || node.op_type() == "Identity" ||
         node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
}

// True if the results of the operator are parts of its first operand.
bool TakesParts(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return PassesOn(node) || op == "Slice" || op == "Split" || op == "Gather" || op == "Squeeze" ||
         op == "Unsqueeze";
}

// Sets ModelPort::is_state.
void FindStates(const onnx::GraphProto& graph, std::vector<ModelPort>& inputs) {
  constexpr int kInitialState = 5, kInitialCell = 6;
  std::map<std::string, ModelPort*> parts;
  for (ModelPort& input : inputs) parts[input.name] = &input;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.input().empty()) continue;
    if (const auto whole = parts.find(node.input(0)); TakesParts(node) && whole != parts.end()) {
      for (const std::string& output : node.output()) parts[output] = whole->second;
    }
    for (const int i : {kInitialState, kInitialCell}) {
      if (!IsRecurrent(node) || i >= node.input_size()) continue;
      if (const auto state = parts.find(node.input(i)); state != parts.end()) {
        state->second->is_state = true;
      }
    }
  }
}

}  // namespace

void AddFactsOfReaders(const onnx::GraphProto& graph, std::vector<ModelPort>& inputs) {
  FindStates(graph, inputs);
  Weights weights;
  for (const onnx::TensorProto& tensor : graph.initializer()) weights[tensor.name()] = &tensor;
  std::map<std::string, ModelPort*> values;
  for (ModelPort& input : inputs) values[input.name] = &input;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.input().empty()) continue;
    const auto read = values.find(node.input(0));
    if (read == values.end()) continue;
    ModelPort& input = *read->second;
    if (PassesOn(node) && !node.output().empty()) values[node.output(0)] = &input;
    input.is_convolved |= IsConvolution(node);
    const std::optional<Wanted> wanted = WantedBy(node, weights);
    if (!wanted.has_value()) continue;
    const auto rank = static_cast<int64_t>(input.extents.size());
    const int64_t d = wanted->dimension < 0 ? rank + wanted->dimension : wanted->dimension;
    if (d < 0 || d >= rank) continue;
    Extent& extent = input.extents[static_cast<size_t>(d)];
    if (!extent.value.has_value())
      extent.wanted = std::max(extent.wanted.value_or(0), wanted->size);
  }
}

}  // namespace kiln::onnx_frontend
