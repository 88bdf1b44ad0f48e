// SPDX-License-Identifier: Apache-2.0
// CheckIndices: checks the indices of every operator that reads or writes at places that data
// select. Constants are checked here, other indices when the model runs.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/index_input.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// Limit on the bytes of a name in an error.
constexpr size_t kMaxName = 48;

std::string Shortened(absl::string_view name) {
  if (name.size() <= kMaxName) return std::string(name);
  // The cut must not split a UTF-8 character.
  size_t end = kMaxName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(name.substr(0, end), "...");
}

class IndexChecker {
 public:
  explicit IndexChecker(const Graph& old) : old_(old), rewriter_(old) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      const Node& node = old_.node(id);
      const std::optional<IndexInput> index = IndexOf(node);
      if (!index.has_value()) {
        rewriter_.Copy(id);
        continue;
      }
      const ValueId indices = node.inputs[static_cast<size_t>(index->input)];
      if (old_.is_constant(indices)) {
        KILN_RETURN_IF_ERROR(CheckConstant(node, *index, old_.value(indices).constant));
        rewriter_.Copy(id);
        continue;
      }
      KILN_ASSIGN_OR_RETURN(const ValueId checked, Checked(node, *index, indices));
      Clone(node, {{static_cast<size_t>(index->input), checked}}, /*replaces=*/true);
    }
    return std::move(rewriter_).Finish();
  }

 private:
  std::optional<IndexInput> IndexOf(const Node& node) const {
    const OpDef* op = node.is_group() ? nullptr : FindOp(node.op_name());
    if (op == nullptr || op->index_input == nullptr) return std::nullopt;
    std::vector<TensorType> types;
    std::vector<const Tensor*> constants;
    for (ValueId input : node.inputs) {
      types.push_back(old_.type(input));
      constants.push_back(old_.is_constant(input) ? &old_.value(input).constant : nullptr);
    }
    return op->index_input({.attrs = node.attrs, .inputs = types, .constants = constants});
  }

  // "take 'Gather_3'", or "take (line 3)" for Relay text.
  static std::string ReaderOf(const Node& node) {
    if (!node.source.node.empty()) {
      return absl::StrCat(node.op_name(), " '", Shortened(node.source.node), "'");
    }
    return node.source.line > 0 ? absl::StrCat(node.op_name(), " (line ", node.source.line, ")")
                                : std::string(node.op_name());
  }

  std::string NameOf(const Node& node, const IndexInput& index, ValueId indices) const {
    const std::string& role = node.op->inputs[static_cast<size_t>(index.input)].name;
    const Value& value = old_.value(indices);
    if (value.kind != ValueKind::kInput || value.name.empty()) return role;
    return absl::StrCat(role, " '", Shortened(value.name), "'");
  }

  absl::Status CheckConstant(const Node& node, const IndexInput& index,
                             const Tensor& indices) const {
    const DType dtype = indices.type().dtype;
    const int64_t count = indices.type().num_elements();
    const int64_t of_part = count / static_cast<int64_t>(index.bounds.size());
    for (int64_t i = 0; i < count; ++i) {
      const size_t part = index.bounds.size() == 1 ? 0 : static_cast<size_t>(i / of_part);
      const IndexBounds& bounds = index.bounds[part];
      const int64_t found = indices.AsInt(i);
      const bool wraps = dtype == DType::UInt(64) && found < 0;
      if (!wraps && found >= bounds.least && found <= bounds.largest) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(node.source.ToString(), node.op_name(), ": found index ",
                       wraps ? absl::StrCat(static_cast<uint64_t>(found)) : absl::StrCat(found),
                       " in ", node.op->inputs[static_cast<size_t>(index.input)].name, ", wanted ",
                       bounds.least, " to ", bounds.largest));
    }
    return absl::OkStatus();
  }

  // The indices after a check, or unchanged if none can be out of bounds.
  absl::StatusOr<ValueId> Checked(const Node& node, const IndexInput& index, ValueId indices) {
    if (const std::optional<Wrapping> wrapping = AsWrapping(index, indices)) {
      IndexInput wider = index;
      wider.bounds[0] = FromEnds(index.bounds[0].largest + 1);
      KILN_ASSIGN_OR_RETURN(const ValueId base, Checked(node, wider, wrapping->base));
      const ValueId less = Clone(*wrapping->less, {{0, base}});
      const ValueId sum = Clone(*wrapping->sum, {{0, base}});
      return Clone(*wrapping->where, {{0, less}, {1, sum}, {2, base}});
    }
    const DType dtype = old_.type(indices).dtype;
    std::vector<int64_t> least, largest;
    bool can_fail = false;
    for (const IndexBounds& bounds : index.bounds) {
      can_fail |= CanBeLess(dtype, bounds) || CanBeGreater(dtype, bounds);
      least.push_back(bounds.least);
      largest.push_back(bounds.largest);
    }
    const ValueId mapped = rewriter_.Map(indices);
    if (!can_fail || old_.type(indices).num_elements() == 0) return mapped;
    return AddOp(rewriter_.graph(), "check_indices", {mapped},
                 {{"least", AttrValue::Ints(least)},
                  {"largest", AttrValue::Ints(largest)},
                  {"reader", ReaderOf(node)},
                  {"name", NameOf(node, index, indices)}},
                 node.source);
  }

  // The pattern where(less(base, 0), add(base, extent), base), by which front ends
  // count from the end for operators that do not. `base` is checked, as the error must
  // name the index in the model.
  struct Wrapping {
    ValueId base;
    const Node *less, *sum, *where;
  };
  std::optional<Wrapping> AsWrapping(const IndexInput& index, ValueId indices) const {
    const Node* where = ProducerOf(indices, "where");
    if (where == nullptr || index.bounds.size() != 1 || index.bounds[0].least != 0) return {};
    const ValueId base = where->inputs[2];
    const Node* less = ProducerOf(where->inputs[0], "less");
    const Node* sum = ProducerOf(where->inputs[1], "add");
    const auto is_of_base = [&](const Node* node, int64_t constant) {
      return node != nullptr && node->inputs[0] == base && old_.is_constant(node->inputs[1]) &&
             old_.type(node->inputs[1]).num_elements() == 1 &&
             old_.value(node->inputs[1]).constant.AsInt(0) == constant;
    };
    if (!is_of_base(less, 0) || !is_of_base(sum, index.bounds[0].largest + 1)) return {};
    return Wrapping{base, less, sum, where};
  }

  const Node* ProducerOf(ValueId value, absl::string_view op) const {
    const Value& v = old_.value(value);
    if (v.kind != ValueKind::kNodeOutput || old_.node(v.node).op_name() != op) return nullptr;
    return &old_.node(v.node);
  }

  // Adds a copy of the node with values of the new graph in the place of some inputs. With
  // `replaces`, the copy replaces the node. Returns its first output.
  ValueId Clone(const Node& node, const std::map<size_t, ValueId>& inputs, bool replaces = false) {
    Node copy = node;
    for (size_t i = 0; i < copy.inputs.size(); ++i) {
      const auto it = inputs.find(i);
      copy.inputs[i] = it == inputs.end() ? rewriter_.Map(copy.inputs[i]) : it->second;
    }
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(old_.type(output));
    copy.outputs.clear();
    const NodeId id = rewriter_.graph().AddNode(std::move(copy), types);
    const std::vector<ValueId> outputs = rewriter_.graph().node(id).outputs;
    for (size_t i = 0; replaces && i < outputs.size(); ++i) {
      rewriter_.Replace(node.outputs[i], outputs[i]);
    }
    return outputs[0];
  }

  const Graph& old_;
  GraphRewriter rewriter_;
};

}  // namespace

absl::StatusOr<Graph> CheckIndices(const Graph& graph, const PassContext& context) {
  if (!context.check_indices) return graph;
  return IndexChecker(graph).Run();
}

}  // namespace kiln
