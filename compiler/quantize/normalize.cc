// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/normalize.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/quantize/fold_channels.h"
#include "onnx/version_converter/convert.h"

namespace kiln::quantize {
namespace {

// The IR version that supports opset 13 and in which initializers need not be inputs.
constexpr int kIrVersion = 7;
constexpr char kFolded[] = "constants.onnx";

// Adds the shapes that the converter needs: inputs of Softmax, LogSoftmax and Hardmax, whose axis
// has another meaning from opset 13 on.
void AddShapes(const std::map<std::string, TensorType>& types, onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::NodeProto& node : graph.node()) {
    if (Is(node, "Softmax") || Is(node, "LogSoftmax") || Is(node, "Hardmax")) {
      names.insert(Input(node, 0));
    }
  }
  for (const onnx::ValueInfoProto& input : graph.input()) names.erase(input.name());
  for (const std::string& name : names) {
    const auto type = types.find(name);
    if (type == types.end() || type->second.dtype != DType::Float(32)) continue;
    onnx::ValueInfoProto& info = *graph.add_value_info();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : type->second.shape) {
      tensor.mutable_shape()->add_dim()->set_dim_value(extent);
    }
  }
}

absl::Status ConvertOpset(Network& network, int opset,
                          const std::map<std::string, TensorType>& types) {
  network.model.set_ir_version(std::max<int64_t>(network.model.ir_version(), kIrVersion));
  if (network.opset() >= opset) return absl::OkStatus();
  const int found = network.opset();
  KILN_ASSIGN_OR_RETURN(const std::string bytes, network.Bytes());
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  AddShapes(types, *model.mutable_graph());
  std::string problem;
  try {
    model = onnx::version_conversion::ConvertVersion(model, opset);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty()) {
    KILN_ASSIGN_OR_RETURN(network, Network::Read(model.SerializeAsString(), ""));
    network.model.set_ir_version(std::max<int64_t>(network.model.ir_version(), kIrVersion));
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("found opset ", found, ", wanted ", opset,
                                               " or later, and it cannot be converted (", problem,
                                               "); export the model with a later opset"));
}

bool DependsOnConstantsAlone(const onnx::NodeProto& node, const std::set<std::string>& constants) {
  if (!IsOnnx(node) || absl::StartsWith(node.op_type(), "Random") ||
      node.op_type() == "Multinomial" || node.op_type() == "Bernoulli") {
    return false;
  }
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.has_g() || attr.graphs_size() > 0) return false;
  }
  return std::all_of(node.input().begin(), node.input().end(), [&](const std::string& input) {
    return input.empty() || constants.contains(input);
  });
}

// Runs the nodes that depend only on constants through the compiler, as a separate model.
absl::Status FoldConstants(Network& network, const onnx_frontend::Evaluator& evaluate) {
  std::set<std::string> known;
  for (const auto& [name, tensor] : network.constants) known.insert(name);
  Network part;
  part.model = network.model;
  part.graph().Clear();
  part.graph().set_name("constants");
  part.constants = network.constants;
  std::vector<onnx::NodeProto> rest;
  for (const onnx::NodeProto& node : network.graph().node()) {
    if (!DependsOnConstantsAlone(node, known)) {
      rest.push_back(node);
      continue;
    }
    *part.graph().add_node() = node;
    known.insert(node.output().begin(), node.output().end());
  }
  if (part.graph().node_size() == 0) return absl::OkStatus();
  std::set<std::string> made;
  for (const onnx::NodeProto& node : part.graph().node()) {
    made.insert(node.output().begin(), node.output().end());
  }
  network.graph().clear_node();
  for (onnx::NodeProto& node : rest) *network.graph().add_node() = std::move(node);
  for (const auto& [name, uses] : network.FindUses()) {
    if (made.contains(name)) part.graph().add_output()->set_name(name);
  }
  if (part.graph().output_size() == 0) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const std::string bytes, part.Bytes());
  KILN_ASSIGN_OR_RETURN(const Graph graph, onnx_frontend::ImportOnnx(bytes, kFolded, {}, evaluate));
  int64_t unlimited = std::numeric_limits<int64_t>::max();
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, evaluate(graph, &unlimited));
  for (size_t i = 0; i < tensors.size(); ++i) {
    network.constants[part.graph().output(static_cast<int>(i)).name()] = tensors[i];
  }
  return absl::OkStatus();
}

// Removes unused trailing outputs. Exporters declare masks and indices that nothing reads.
void DropUnusedOutputs(Network& network) {
  const std::map<std::string, Uses> uses = network.FindUses();
  for (onnx::NodeProto& node : *network.graph().mutable_node()) {
    if (!Is(node, "Dropout") && !Is(node, "MaxPool") && !Is(node, "BatchNormalization")) continue;
    while (node.output_size() > 1 && !uses.contains(node.output(node.output_size() - 1))) {
      node.mutable_output()->RemoveLast();
    }
  }
}

void NameNodes(Network& network) {
  for (onnx::NodeProto& node : *network.graph().mutable_node()) {
    if (node.name().empty() && node.output_size() > 0) node.set_name(node.output(0));
  }
}

}  // namespace

absl::Status Normalize(Network& network, int opset, const std::map<std::string, TensorType>& types,
                       const onnx_frontend::Evaluator& evaluate) {
  KILN_RETURN_IF_ERROR(ConvertOpset(network, opset, types));
  KILN_RETURN_IF_ERROR(FoldConstants(network, evaluate));
  DropUnusedOutputs(network);
  NameNodes(network);
  FoldChannels(network);
  return absl::OkStatus();
}

}  // namespace kiln::quantize
