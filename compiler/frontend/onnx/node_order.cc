// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/node_order.h"

#include <numeric>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace kiln::onnx_frontend {
namespace {

using Names = absl::flat_hash_set<std::string>;

// Adds what a node reads of the graph that it is in.
void AddNamesRead(const onnx::NodeProto& node, Names& names) {
  for (const std::string& input : node.input()) names.insert(input);
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (!attr.has_g()) continue;
    Names read;
    for (const onnx::NodeProto& inner : attr.g().node()) AddNamesRead(inner, read);
    for (const onnx::ValueInfoProto& output : attr.g().output()) read.insert(output.name());
    // The body's own.
    for (const onnx::NodeProto& inner : attr.g().node()) {
      for (const std::string& output : inner.output()) read.erase(output);
    }
    for (const onnx::ValueInfoProto& input : attr.g().input()) read.erase(input.name());
    for (const onnx::TensorProto& tensor : attr.g().initializer()) read.erase(tensor.name());
    names.insert(read.begin(), read.end());
  }
}

}  // namespace

std::vector<int> NodeOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
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
    Names names;
    AddNamesRead(nodes[i], names);
    for (const std::string& name : names) {
      const auto maker = makers.find(name);
      if (maker == makers.end()) continue;
      readers[static_cast<size_t>(maker->second)].push_back(i);
      ++waits_for[static_cast<size_t>(i)];
      is_sorted = is_sorted && maker->second < i;
    }
  }
  std::vector<int> order(static_cast<size_t>(nodes.size()));
  std::iota(order.begin(), order.end(), 0);
  if (is_sorted) return order;

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i : order) {
    if (waits_for[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  order.clear();
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int reader : readers[static_cast<size_t>(i)]) {
      if (--waits_for[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < nodes.size(); ++i) {
    if (waits_for[static_cast<size_t>(i)] > 0) order.push_back(i);
  }
  return order;
}

}  // namespace kiln::onnx_frontend
