// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/end_at.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/nearest.h"
#include "google/protobuf/repeated_field.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the values of a graph and the nodes that compute them.
using Makers = std::map<std::string, const onnx::NodeProto*>;

Makers MakersOf(const onnx::GraphProto& graph) {
  Makers makers;
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) makers.emplace(output, &node);
    }
  }
  return makers;
}

// Returns the values that the name refers to. Empty if the name is unknown.
std::vector<std::string> ProducedValues(const std::string& name, const onnx::GraphProto& graph,
                                        const Makers& makers) {
  const auto is_input = [&](const onnx::ValueInfoProto& input) { return input.name() == name; };
  if (makers.contains(name) || std::any_of(graph.input().begin(), graph.input().end(), is_input)) {
    return {name};
  }
  std::vector<std::string> values;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.name() != name) continue;
    for (const std::string& output : node.output()) {
      if (!output.empty()) values.push_back(output);
    }
  }
  return values;
}

absl::Status Unknown(const std::string& name, const onnx::GraphProto& graph, const Makers& makers) {
  std::vector<std::string> known;
  for (const auto& [value, node] : makers) known.push_back(value);
  for (const onnx::NodeProto& node : graph.node()) {
    if (!node.name().empty()) known.push_back(node.name());
  }
  return absl::InvalidArgumentError(absl::StrCat("--outputs: the model has no value and no node '",
                                                 name, "'", Perhaps(name, known)));
}

// Adds the values that a node and its bodies read, including values that the bodies define.
void AddReads(const onnx::NodeProto& node, std::vector<std::string>& values) {
  values.insert(values.end(), node.input().begin(), node.input().end());
  const auto add_graph = [&](const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& inner : graph.node()) AddReads(inner, values);
    for (const onnx::ValueInfoProto& output : graph.output()) values.push_back(output.name());
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_graph(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) add_graph(graph);
  }
}

template <typename Message, typename Keep>
void KeepIf(google::protobuf::RepeatedPtrField<Message>& messages, const Keep& keep) {
  const auto end = std::stable_partition(messages.pointer_begin(), messages.pointer_end(),
                                         [&](const Message* message) { return keep(*message); });
  const auto kept = static_cast<int>(end - messages.pointer_begin());
  messages.DeleteSubrange(kept, messages.size() - kept);
}

}  // namespace

absl::Status EndAt(const std::vector<std::string>& names, onnx::GraphProto& graph) {
  const Makers makers = MakersOf(graph);
  std::vector<std::string> outputs;
  for (const std::string& name : names) {
    const std::vector<std::string> values = ProducedValues(name, graph, makers);
    if (values.empty()) return Unknown(name, graph, makers);
    for (const std::string& value : values) {
      if (std::find(outputs.begin(), outputs.end(), value) == outputs.end()) {
        outputs.push_back(value);
      }
    }
  }
  std::set<std::string> read;
  std::set<const onnx::NodeProto*> needed;
  std::vector<std::string> to_visit = outputs;
  while (!to_visit.empty()) {
    const std::string value = std::move(to_visit.back());
    to_visit.pop_back();
    if (!read.insert(value).second) continue;
    const auto maker = makers.find(value);
    if (maker == makers.end() || !needed.insert(maker->second).second) continue;
    AddReads(*maker->second, to_visit);
  }
  // The type that the file declares for an output is kept, as it is compared with the actual type.
  std::map<std::string, onnx::ValueInfoProto> declared;
  for (const onnx::ValueInfoProto& output : graph.output()) declared[output.name()] = output;
  graph.clear_output();
  for (const std::string& value : outputs) {
    onnx::ValueInfoProto& output = *graph.add_output();
    if (const auto found = declared.find(value); found != declared.end()) output = found->second;
    output.set_name(value);
  }
  KeepIf(*graph.mutable_input(),
         [&](const onnx::ValueInfoProto& input) { return read.contains(input.name()); });
  KeepIf(*graph.mutable_initializer(),
         [&](const onnx::TensorProto& tensor) { return read.contains(tensor.name()); });
  KeepIf(*graph.mutable_node(),
         [&](const onnx::NodeProto& node) { return needed.contains(&node); });
  return absl::OkStatus();
}

}  // namespace kiln::onnx_frontend
