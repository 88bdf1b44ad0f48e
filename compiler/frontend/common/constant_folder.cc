// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/constant_folder.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln::frontend {
namespace {

// Largest number of elements of the results of one call, and of the constants read for them.
constexpr int64_t kMaxFoldedElements = 1 << 16;
constexpr int64_t kMaxReadElements = kMaxTableElements;
// Limits on the work of one call and of all calls, in operations of a few nanoseconds. The total
// grows with the size of the file, so that a small file is imported in a fraction of a second even
// by an instrumented build.
constexpr int64_t kMaxWorkOfCall = 1 << 23;
constexpr int64_t kWorkOfAnyFile = 1 << 24;
constexpr int64_t kWorkOfByte = 1 << 10;
constexpr int64_t kMaxWork = 1 << 30;
// Cost of compiling a node and of reading a constant. A node takes more than 16 bytes of a file, so
// the limit per byte suffices to compute each node once.
constexpr int64_t kWorkOfNode = 1 << 14;
constexpr int64_t kElementsPerOperation = 4;

int64_t WorkOfFile(size_t bytes) {
  const auto counted = static_cast<int64_t>(std::min<size_t>(bytes, kMaxWork / kWorkOfByte));
  return std::min(kWorkOfAnyFile + counted * kWorkOfByte, kMaxWork);
}

bool MayFold(const Node& node) { return node.op_name() != "qnn.dequantize"; }

}  // namespace

ConstantFolder::ConstantFolder(Graph& graph, size_t file_bytes, const Evaluator& evaluate)
    : graph_(graph),
      evaluate_(evaluate),
      foldable_(graph, MayFold),
      fixed_(graph),
      work_left_(WorkOfFile(file_bytes)) {}

std::optional<std::set<NodeId>> ConstantFolder::ConeOf(const std::vector<ValueId>& values,
                                                       int64_t& work) const {
  std::set<NodeId> nodes;
  std::set<ValueId> constants;
  int64_t elements = 0;
  for (std::vector<ValueId> open = values; !open.empty();) {
    const ValueId value = open.back();
    const Value& v = graph_.value(value);
    open.pop_back();
    if (v.kind == ValueKind::kConstant && constants.insert(value).second) {
      elements += std::min(graph_.type(value).num_elements(), kMaxReadElements + 1);
    }
    if (v.kind == ValueKind::kNodeOutput && nodes.insert(v.node).second) {
      const std::vector<ValueId>& inputs = graph_.node(v.node).inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
      work -= kWorkOfNode;
    }
    if (work < 0 || elements > kMaxReadElements) return std::nullopt;
  }
  work -= elements / kElementsPerOperation;
  return work < 0 ? std::nullopt : std::optional(nodes);
}

Graph ConstantFolder::Part(const std::set<NodeId>& nodes,
                           const std::vector<ValueId>& values) const {
  Graph part;
  std::map<ValueId, ValueId> inside;
  for (NodeId id : nodes) {
    Node copy = graph_.node(id);
    for (ValueId& input : copy.inputs) {
      const auto [it, is_new] = inside.emplace(input, kNoId);
      if (is_new) it->second = part.AddConstant(graph_.value(input).constant);
      input = it->second;
    }
    const std::vector<ValueId> outputs = std::exchange(copy.outputs, {});
    std::vector<TensorType> types;
    for (ValueId output : outputs) types.push_back(graph_.type(output));
    const NodeId added = part.AddNode(std::move(copy), types);
    for (size_t i = 0; i < outputs.size(); ++i) inside[outputs[i]] = part.node(added).outputs[i];
  }
  for (ValueId value : values) part.outputs.push_back(inside.at(value));
  return part;
}

bool ConstantFolder::AreSmall(const std::vector<ValueId>& values) const {
  int64_t elements = 0;
  for (ValueId value : values) {
    elements += std::min(graph_.type(value).num_elements(), kMaxFoldedElements + 1);
    if (elements > kMaxFoldedElements) return false;
  }
  return true;
}

absl::StatusOr<std::vector<Tensor>> ConstantFolder::Compute(const std::vector<ValueId>& values) {
  const int64_t allowed = std::min(kMaxWorkOfCall, work_left_);
  int64_t work = allowed;
  absl::StatusOr<std::vector<Tensor>> tensors = absl::ResourceExhaustedError("too many constants");
  if (const std::optional<std::set<NodeId>> cone = ConeOf(values, work); cone.has_value()) {
    tensors = evaluate_(Part(*cone, values), &work);
  }
  work_left_ = std::max<int64_t>(work_left_ - (allowed - work), 0);
  return tensors;
}

absl::Status ConstantFolder::Fold(const std::vector<ValueId*>& values) {
  std::vector<ValueId*> places;
  std::vector<ValueId> fixed;
  for (ValueId* value : values) {
    if (*value == kNoId || graph_.is_constant(*value) || !foldable_.Contains(*value)) continue;
    places.push_back(value);
    fixed.push_back(*value);
  }
  if (places.empty() || !AreSmall(fixed)) return absl::OkStatus();
  const absl::StatusOr<std::vector<Tensor>> tensors = Compute(fixed);
  if (absl::IsResourceExhausted(tensors.status())) {
    // Values computed from them are not tried either.
    for (ValueId value : fixed) foldable_.Remove(graph_.value(value).node);
    return absl::OkStatus();
  }
  KILN_RETURN_IF_ERROR(tensors.status());
  for (size_t i = 0; i < places.size(); ++i) *places[i] = graph_.AddConstant((*tensors)[i]);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Tensor>> ConstantFolder::ValueOf(ValueId value) {
  if (graph_.is_constant(value)) return graph_.value(value).constant;
  if (!fixed_.Contains(value) || !AreSmall({value})) return std::nullopt;
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  absl::StatusOr<std::vector<Tensor>> tensors = Compute({value});
  if (absl::IsResourceExhausted(tensors.status())) return known_[value] = std::nullopt;
  KILN_RETURN_IF_ERROR(tensors.status());
  return known_[value] = std::move(tensors->front());
}

}  // namespace kiln::frontend
