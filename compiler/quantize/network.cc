// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/network.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/node_order.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::quantize {
namespace {

int DataType(DType dtype) {
  for (int type = onnx::TensorProto::DataType_MIN; type <= onnx::TensorProto::DataType_MAX;
       ++type) {
    const absl::StatusOr<DType> candidate = onnx_frontend::DTypeOf(type);
    if (candidate.ok() && *candidate == dtype) return type;
  }
  return onnx::TensorProto::UNDEFINED;
}

onnx::TensorProto ToProto(const std::string& name, const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  for (const int64_t extent : tensor.type().shape) proto.add_dims(extent);
  proto.set_data_type(DataType(tensor.type().dtype));
  proto.set_raw_data(tensor.bytes());
  return proto;
}

// Adds the names that the bodies of a node define. Values outside the bodies must not use them.
void AddNamesOfBodies(const onnx::NodeProto& node, std::set<std::string>& names) {
  const auto add = [&](const onnx::GraphProto& body) {
    for (const onnx::ValueInfoProto& input : body.input()) names.insert(input.name());
    for (const onnx::TensorProto& tensor : body.initializer()) names.insert(tensor.name());
    for (const onnx::NodeProto& inner : body.node()) {
      names.insert(inner.output().begin(), inner.output().end());
      AddNamesOfBodies(inner, names);
    }
  };
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.has_g()) add(attr.g());
    for (const onnx::GraphProto& body : attr.graphs()) add(body);
  }
}

template <typename Items, typename Predicate>
void EraseIf(Items& items, Predicate predicate) {
  items.erase(std::remove_if(items.begin(), items.end(), predicate), items.end());
}

// Sorts nodes topologically. Nodes of a cycle come last; importing the model reports the cycle.
void SortNodes(onnx::GraphProto& graph) {
  const onnx_frontend::NodeOrder order =
      onnx_frontend::OrderOf(graph.node(), [](const std::string&) { return false; });
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (const std::vector<int>& part : {order.sorted, order.circle}) {
    for (int i : part) nodes.Add()->Swap(graph.mutable_node(i));
  }
  graph.mutable_node()->Swap(&nodes);
}

}  // namespace

absl::StatusOr<Network> Network::Read(absl::string_view bytes, const std::string& path) {
  Network network;
  if (!network.model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": found no whole ONNX model"));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  onnx::GraphProto& graph = network.graph();
  for (const onnx::TensorProto& proto : graph.initializer()) {
    absl::StatusOr<Tensor> tensor = onnx_frontend::DecodeTensor(proto, folder);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), absl::StrCat(path, ": initializer '", proto.name(), "': "));
    }
    network.constants[proto.name()] = *std::move(tensor);
  }
  graph.clear_initializer();
  graph.clear_value_info();
  // Older models list initializers among their inputs, as defaults.
  EraseIf(*graph.mutable_input(),
          [&](const onnx::ValueInfoProto& input) { return network.is_constant(input.name()); });
  SortNodes(graph);
  return network;
}

absl::StatusOr<std::string> Network::Bytes() const {
  onnx::ModelProto copy = model;
  onnx::GraphProto& graph = *copy.mutable_graph();
  const std::map<std::string, Uses> uses = FindUses();
  int64_t bytes = 0;
  for (const auto& [name, tensor] : constants) {
    if (!uses.contains(name)) continue;
    bytes += tensor.type().num_bytes();
    if (bytes > kMaxModelFileBytes) break;
    *graph.add_initializer() = ToProto(name, tensor);
  }
  if (bytes + static_cast<int64_t>(model.ByteSizeLong()) >= kMaxModelFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the constants take ", bytes, " bytes, a file holds ", kMaxModelFileBytes));
  }
  return copy.SerializeAsString();
}

int Network::opset() const {
  for (const onnx::OperatorSetIdProto& id : model.opset_import()) {
    if (id.domain().empty() || id.domain() == "ai.onnx") return static_cast<int>(id.version());
  }
  return 1;
}

const Tensor* Network::Floats(const std::string& name) const {
  const auto it = constants.find(name);
  return it != constants.end() && it->second.type().dtype == DType::Float(32) ? &it->second
                                                                              : nullptr;
}

std::map<std::string, Uses> Network::FindUses() const {
  std::map<std::string, Uses> uses;
  for (int i = 0; i < graph().node_size(); ++i) {
    const onnx::NodeProto& node = graph().node(i);
    for (const std::string& input : node.input()) {
      if (!input.empty()) uses[input].nodes.push_back(i);
    }
    std::set<std::string> names;
    onnx_frontend::AddNamesReadByBodies(node, names);
    for (const std::string& name : names) uses[name].outside = true;
  }
  for (const onnx::ValueInfoProto& output : graph().output()) uses[output.name()].outside = true;
  return uses;
}

std::set<std::string> Network::Names() const {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph().input()) names.insert(input.name());
  for (const auto& [name, tensor] : constants) names.insert(name);
  for (const onnx::NodeProto& node : graph().node()) {
    names.insert(node.output().begin(), node.output().end());
    AddNamesOfBodies(node, names);
  }
  return names;
}

bool IsOnnx(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}
bool Is(const onnx::NodeProto& node, absl::string_view op) {
  return IsOnnx(node) && node.op_type() == op;
}

const onnx::AttributeProto* FindAttr(const onnx::NodeProto& node, absl::string_view name) {
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.name() == name) return &attr;
  }
  return nullptr;
}
int64_t IntAttr(const onnx::NodeProto& node, absl::string_view name, int64_t fallback) {
  const onnx::AttributeProto* attr = FindAttr(node, name);
  return attr == nullptr ? fallback : attr->i();
}
float FloatAttr(const onnx::NodeProto& node, absl::string_view name, float fallback) {
  const onnx::AttributeProto* attr = FindAttr(node, name);
  return attr == nullptr ? fallback : attr->f();
}

const std::string& Input(const onnx::NodeProto& node, int i) {
  static const std::string kAbsent;
  return i < node.input_size() ? node.input(i) : kAbsent;
}

}  // namespace kiln::quantize
