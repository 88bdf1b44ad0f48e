// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/node_order.h"

#include <numeric>
#include <queue>

#include "absl/container/flat_hash_map.h"

namespace kiln::onnx_frontend {
namespace {

void AddNamesReadBy(const onnx::GraphProto& body, std::set<std::string>& names) {
  std::set<std::string> read;
  for (const onnx::NodeProto& node : body.node()) {
    read.insert(node.input().begin(), node.input().end());
    AddNamesReadByBodies(node, read);
  }
  for (const onnx::ValueInfoProto& output : body.output()) read.insert(output.name());
  // Removes the names that the body defines itself.
  for (const onnx::NodeProto& node : body.node()) {
    for (const std::string& output : node.output()) read.erase(output);
  }
  for (const onnx::ValueInfoProto& input : body.input()) read.erase(input.name());
  for (const onnx::TensorProto& tensor : body.initializer()) read.erase(tensor.name());
  for (const auto& sparse : body.sparse_initializer()) read.erase(sparse.values().name());
  names.insert(read.begin(), read.end());
}

}  // namespace

void AddNamesReadByBodies(const onnx::NodeProto& node, std::set<std::string>& names) {
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.has_g()) AddNamesReadBy(attr.g(), names);
    for (const onnx::GraphProto& body : attr.graphs()) AddNamesReadBy(body, names);
  }
}

NodeOrder OrderOf(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                  const std::function<bool(const std::string&)>& is_known) {
  absl::flat_hash_map<std::string, int> makers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (!output.empty() && !is_known(output)) makers.emplace(output, i);
    }
  }
  std::vector<std::vector<int>> readers(static_cast<size_t>(nodes.size()));
  std::vector<int> waits_for(static_cast<size_t>(nodes.size()), 0);
  bool is_sorted = true;
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> names(nodes[i].input().begin(), nodes[i].input().end());
    AddNamesReadByBodies(nodes[i], names);
    for (const std::string& name : names) {
      const auto maker = makers.find(name);
      if (maker == makers.end()) continue;
      readers[static_cast<size_t>(maker->second)].push_back(i);
      ++waits_for[static_cast<size_t>(i)];
      is_sorted = is_sorted && maker->second < i;
    }
  }
  NodeOrder order;
  if (is_sorted) {
    order.sorted.resize(static_cast<size_t>(nodes.size()));
    std::iota(order.sorted.begin(), order.sorted.end(), 0);
    return order;
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (waits_for[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.sorted.push_back(i);
    for (int reader : readers[static_cast<size_t>(i)]) {
      if (--waits_for[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < nodes.size(); ++i) {
    if (waits_for[static_cast<size_t>(i)] > 0) order.circle.push_back(i);
  }
  return order;
}

}  // namespace kiln::onnx_frontend
