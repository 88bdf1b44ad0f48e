// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/quantization.h"

#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_file.h"
#include "tools/judge/named_values.h"

namespace kiln::tools {
namespace {

absl::StatusOr<TensorScales> ScalesOfFile(absl::string_view bytes, const std::string& path) {
  using tflite_frontend::ModelFile;
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path));
  TensorScales scales;
  for (const tflite_frontend::TensorInfo& info : file.subgraphs()[0].tensors) {
    const auto quantization = info.ToQuantization();
    if (!quantization.ok()) continue;
    const auto whole = tflite_frontend::OfWholeTensor(*quantization);
    if (whole.has_value()) scales[info.name] = {whole->scale, whole->zero_point, ""};
  }
  return scales;
}

// Returns the scale at index `input` and the zero point after it, if both are scalar constants.
std::optional<TensorScale> ScaleAt(const Graph& graph, const Node& node, size_t input) {
  for (const size_t i : {input, input + 1}) {
    if (i >= node.inputs.size() || !graph.is_constant(node.inputs[i]) ||
        graph.type(node.inputs[i]).num_elements() != 1) {
      return std::nullopt;
    }
  }
  const TensorScale scale = {graph.value(node.inputs[input]).constant.AsDouble(0),
                             graph.value(node.inputs[input + 1]).constant.AsInt(0), ""};
  if (!(scale.scale > 0) || !std::isfinite(scale.scale)) return std::nullopt;
  return scale;
}

// Returns the scale and zero point that the operator defines for its output.
std::optional<TensorScale> OutputScale(const Graph& graph, const Node& node) {
  if (node.is_group()) return std::nullopt;
  const std::vector<InputSchema>& inputs = node.op->inputs;
  for (size_t i = 0; i + 1 < inputs.size(); ++i) {
    if (inputs[i].name == "output_scale") return ScaleAt(graph, node, i);
  }
  return std::nullopt;
}

// True if the output contains numbers of the first input at other positions.
bool MovesNumbers(const Node& node) {
  static const std::set<absl::string_view> kOps = {
      "expand_dims", "nn.batch_flatten", "nn.max_pool2d", "reshape",
      "squeeze",     "strided_slice",    "transpose",
  };
  return kOps.contains(node.op_name());
}

TensorScales ScalesOfOperators(const Graph& graph) {
  std::map<ValueId, TensorScale> known;
  for (const Node& node : graph.nodes) {
    if (node.op_name() == "qnn.dequantize") {
      if (std::optional<TensorScale> scale = ScaleAt(graph, node, 1)) {
        known.try_emplace(node.inputs[0], *scale);
      }
      continue;
    }
    std::optional<TensorScale> scale = OutputScale(graph, node);
    const auto moved = MovesNumbers(node) ? known.find(node.inputs[0]) : known.end();
    if (moved != known.end()) scale = {moved->second.scale, moved->second.zero_point, ""};
    if (!scale.has_value()) continue;
    if (node.op_name() == "qnn.quantize") scale->real_name = graph.value(node.inputs[0]).name;
    known[node.outputs[0]] = *scale;
  }
  TensorScales scales;
  for (const NamedValue& named : NamedValues(graph)) {
    const auto it = known.find(named.value);
    if (it != known.end()) scales[named.name] = it->second;
  }
  for (const ValueId input : graph.inputs) {
    const auto it = known.find(input);
    if (it != known.end()) scales[graph.value(input).name] = it->second;
  }
  return scales;
}

}  // namespace

absl::StatusOr<TensorScales> ScalesOf(const Graph& graph, absl::string_view bytes,
                                      const std::string& path) {
  if (tflite_frontend::IsTflite(bytes)) return ScalesOfFile(bytes, path);
  return ScalesOfOperators(graph);
}

Tensor Dequantize(const Tensor& tensor, const TensorScale& scale) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    values.push_back(scale.scale * static_cast<double>(tensor.AsInt(i) - scale.zero_point));
  }
  return Tensor::From<double>(tensor.type().shape, DType::Float(64), values);
}

}  // namespace kiln::tools
