// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln {

std::string SourceLocation::ToString() const {
  if (!node.empty()) {
    return absl::StrCat(file, file.empty() ? "" : ": ", "node '", node, "': ");
  }
  if (line > 0) return absl::StrCat(file, ":", line, ":", column, ": ");
  return file.empty() ? "" : absl::StrCat(file, ": ");
}

ValueId Graph::AddInput(std::string name, TensorType type) {
  const ValueId id = static_cast<ValueId>(values.size());
  Value& input = values.emplace_back();
  input.kind = ValueKind::kInput;
  input.type = std::move(type);
  input.name = std::move(name);
  inputs.push_back(id);
  return id;
}

ValueId Graph::AddConstant(Tensor tensor, std::string name) {
  const ValueId id = static_cast<ValueId>(values.size());
  Value& constant = values.emplace_back();
  constant.kind = ValueKind::kConstant;
  constant.type = tensor.type();
  constant.name = std::move(name);
  constant.constant = std::move(tensor);
  return id;
}

NodeId Graph::AddNode(Node node, int num_outputs) {
  const NodeId id = static_cast<NodeId>(nodes.size());
  node.outputs.clear();
  for (int i = 0; i < num_outputs; ++i) {
    node.outputs.push_back(static_cast<ValueId>(values.size()));
    Value& output = values.emplace_back();
    output.kind = ValueKind::kNodeOutput;
    output.node = id;
    output.output_index = i;
  }
  nodes.push_back(std::move(node));
  return id;
}

NodeId Graph::AddNode(Node node, absl::Span<const TensorType> output_types) {
  const NodeId id = AddNode(std::move(node), static_cast<int>(output_types.size()));
  for (size_t i = 0; i < output_types.size(); ++i) {
    value(nodes.back().outputs[i]).type = output_types[i];
  }
  return id;
}

std::string Graph::OutputName(int i) const {
  if (!output_names.empty()) return output_names[static_cast<size_t>(i)];
  return outputs.size() == 1 ? "output" : absl::StrCat("output", i);
}

std::vector<std::vector<NodeId>> Graph::Consumers() const {
  std::vector<std::vector<NodeId>> consumers(values.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId input : nodes[i].inputs) {
      consumers[static_cast<size_t>(input)].push_back(static_cast<NodeId>(i));
    }
  }
  return consumers;
}

}  // namespace kiln
