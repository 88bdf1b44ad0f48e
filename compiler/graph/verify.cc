// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/graph/graph.h"

namespace kiln {
namespace {

constexpr absl::string_view kReservedAttrs[] = {"input_names", "output_tensor_names"};

class Verifier {
 public:
  Verifier(const Graph& graph, bool typed, int depth)
      : graph_(graph), typed_(typed), depth_(depth), defined_(graph.values.size(), false) {}

  absl::Status Run() {
    if (depth_ > kMaxNestingDepth) return Broken("groups are nested too deeply");
    KILN_RETURN_IF_ERROR(CheckInputs());
    KILN_RETURN_IF_ERROR(CheckConstants());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      absl::Status status = CheckNode(static_cast<NodeId>(i));
      KILN_RETURN_IF_ERROR(
          Annotate(status, absl::StrCat("node ", i, " (", graph_.nodes[i].op_name(), "): ")));
    }
    KILN_RETURN_IF_ERROR(CheckReads(graph_.outputs, "output"));
    if (!graph_.output_names.empty() && graph_.output_names.size() != graph_.outputs.size()) {
      return Broken(absl::StrCat("there are ", graph_.outputs.size(), " outputs and ",
                                 graph_.output_names.size(), " output_names"));
    }
    return CheckEveryValue();
  }

 private:
  static absl::Status Broken(absl::string_view message) {
    return absl::InternalError(absl::StrCat("graph is broken: ", message));
  }

  bool InRange(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < graph_.values.size();
  }

  // Marks `id` as defined here. Returns an error if it is out of range or already defined.
  absl::Status Define(ValueId id) {
    if (!InRange(id)) return Broken(absl::StrCat("there is no value ", id));
    if (defined_[static_cast<size_t>(id)]) {
      return Broken(absl::StrCat("value ", id, " has two origins"));
    }
    defined_[static_cast<size_t>(id)] = true;
    return absl::OkStatus();
  }

  absl::Status CheckInputs() {
    std::set<absl::string_view> names;
    for (ValueId id : graph_.inputs) {
      KILN_RETURN_IF_ERROR(Define(id));
      const Value& value = graph_.value(id);
      if (value.kind != ValueKind::kInput) {
        return Broken(absl::StrCat("value ", id, " is among the inputs and is of another kind"));
      }
      if (!value.type) return Broken(absl::StrCat("input '", value.name, "' has no type"));
      if (value.name.empty()) return Broken(absl::StrCat("input ", id, " has no name"));
      if (!names.insert(value.name).second) {
        return Broken(absl::StrCat("two inputs have the name '", value.name, "'"));
      }
    }
    KILN_RETURN_IF_ERROR(CheckReservedAttrs(graph_.attrs));
    if (depth_ > 0 && !graph_.attrs.values().empty()) {
      return Broken("the attributes of a group stand on its node, found some on its body");
    }
    return absl::OkStatus();
  }

  // These attributes are printed from fields of the graph.
  static absl::Status CheckReservedAttrs(const Attrs& attrs) {
    for (absl::string_view name : kReservedAttrs) {
      if (attrs.Has(name)) return Broken(absl::StrCat("attribute '", name, "' is reserved"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckConstants() {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      if (value.kind != ValueKind::kConstant) continue;
      KILN_RETURN_IF_ERROR(Define(static_cast<ValueId>(i)));
      if (!value.type || *value.type != value.constant.type()) {
        return Broken(absl::StrCat("constant ", i, " has a type that is not its tensor's"));
      }
      if (static_cast<int64_t>(value.constant.bytes().size()) != value.type->num_bytes()) {
        return Broken(absl::StrCat("constant ", i, " of type ", value.type->ToString(), " has ",
                                   value.constant.bytes().size(), " bytes"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckReads(const std::vector<ValueId>& ids, absl::string_view what) const {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!InRange(ids[i]))
        return Broken(absl::StrCat(what, " ", i, ": there is no value ", ids[i]));
      if (!defined_[static_cast<size_t>(ids[i])]) {
        return Broken(
            absl::StrCat(what, " ", i, ": value ", ids[i], " is read before it is defined"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckNode(NodeId id) {
    const Node& node = graph_.node(id);
    KILN_RETURN_IF_ERROR(CheckReads(node.inputs, "input"));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      KILN_RETURN_IF_ERROR(Define(node.outputs[i]));
      const Value& value = graph_.value(node.outputs[i]);
      if (value.kind != ValueKind::kNodeOutput || value.node != id ||
          value.output_index != static_cast<int>(i)) {
        return Broken(absl::StrCat("output ", i, " does not point back at its node"));
      }
    }
    return node.is_group() ? CheckGroup(node) : CheckOperator(node);
  }

  absl::Status CheckOperator(const Node& node) const {
    if (node.body != nullptr) return Broken("an operator has no body, found one");
    const OpSchema& op = *node.op;
    const absl::Status arity = CheckNumInputs(op, node.inputs.size());
    if (!arity.ok()) return Broken(arity.message());
    absl::StatusOr<Attrs> normal = NormalizeAttrs(op, node.attrs);
    if (!normal.ok()) return Broken(normal.status().message());
    if (!(*normal == node.attrs)) return Broken("attributes are not normalized");
    const absl::StatusOr<int> num_outputs = op.NumOutputs(node.attrs, node.inputs.size());
    if (!num_outputs.ok()) return Broken(num_outputs.status().message());
    if (static_cast<size_t>(*num_outputs) != node.outputs.size()) {
      return Broken(absl::StrCat("found ", node.outputs.size(), " outputs, wanted ", *num_outputs));
    }
    return absl::OkStatus();
  }

  absl::Status CheckGroup(const Node& node) const {
    if (node.body == nullptr) return Broken("a group needs a body");
    if (!IsGroupAttrs(node.attrs)) {
      return Broken("a group needs the attribute Primitive=1 or Compiler=\"…\"");
    }
    KILN_RETURN_IF_ERROR(CheckReservedAttrs(node.attrs));
    const Graph& body = *node.body;
    KILN_RETURN_IF_ERROR(Annotate(Verifier(body, typed_, depth_ + 1).Run(), "body: "));
    KILN_RETURN_IF_ERROR(CheckSignature(node.inputs, body, body.inputs, "input"));
    return CheckSignature(node.outputs, body, body.outputs, "output");
  }

  // Checks that the values of the node and of its body agree in number and types.
  absl::Status CheckSignature(const std::vector<ValueId>& outside, const Graph& body,
                              const std::vector<ValueId>& inside, absl::string_view what) const {
    if (outside.size() != inside.size()) {
      return Broken(
          absl::StrCat("found ", outside.size(), " ", what, "s, its body has ", inside.size()));
    }
    for (size_t i = 0; i < outside.size(); ++i) {
      const auto& a = graph_.value(outside[i]).type;
      const auto& b = body.value(inside[i]).type;
      if (a && b && *a != *b) {
        return Broken(absl::StrCat(what, " ", i, " is of type ", a->ToString(),
                                   ", in its body of type ", b->ToString()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckEveryValue() const {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (!defined_[i]) return Broken(absl::StrCat("value ", i, " has no origin"));
      if (typed_ && !graph_.values[i].type)
        return Broken(absl::StrCat("value ", i, " has no type"));
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const bool typed_;
  const int depth_;
  std::vector<bool> defined_;
};

}  // namespace

bool IsGroupAttrs(const Attrs& attrs) {
  const AttrValue& primitive = attrs.Get("Primitive");
  return primitive == AttrValue(1) || primitive == AttrValue(true) ||
         std::holds_alternative<std::string>(attrs.Get("Compiler").value);
}

absl::Status Verify(const Graph& graph, bool typed) { return Verifier(graph, typed, 0).Run(); }

}  // namespace kiln
