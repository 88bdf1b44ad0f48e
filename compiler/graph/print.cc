// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/graph/lex.h"
#include "compiler/graph/literal.h"
#include "compiler/graph/metadata_section.h"
#include "compiler/graph/relay_text.h"

namespace kiln {
namespace {

// Constants of the whole text that have no literal, in the order of their index.
struct ConstantTable {
  std::vector<Tensor> tensors;
};

std::string Indent(int depth) { return std::string(static_cast<size_t>(2 * depth), ' '); }

// Returns the name of each input in the text: its own, or a name derived from it if the lexer would
// not read its own name back.
std::vector<std::string> ParameterNames(const Graph& graph) {
  std::set<std::string> taken;
  for (ValueId id : graph.inputs) taken.insert(graph.value(id).name);
  std::vector<std::string> names;
  for (ValueId id : graph.inputs) {
    std::string name = graph.value(id).name;
    if (!relay::IsPlainName(name)) {
      for (char& c : name) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      if (!relay::IsPlainName(name)) name = absl::StrCat("input", names.size());
      while (!taken.insert(name).second) name += "_";
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string AttrName(absl::string_view name) {
  return relay::IsAttrName(name) ? std::string(name) : QuoteString(name);
}

// Prints one graph: the body of @main or of a group.
class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options, int depth, ConstantTable& constants)
      : graph_(graph),
        options_(options),
        depth_(depth),
        constants_(constants),
        names_(graph.values.size()) {
    const std::vector<std::string> parameters = ParameterNames(graph);
    for (size_t i = 0; i < parameters.size(); ++i) {
      names_[static_cast<size_t>(graph.inputs[i])] = absl::StrCat("%", parameters[i]);
    }
  }

  // Prints from the opening parenthesis of the parameters to the closing brace. `attrs` are the
  // function's.
  void PrintFunction(const Attrs& attrs, std::string& out) {
    PrintSignature(attrs, out);
    absl::StrAppend(&out, " {\n");
    for (size_t i = 0; i < graph_.nodes.size(); ++i) PrintNode(static_cast<NodeId>(i), out);
    if (!last_is_result_) {
      absl::StrAppend(
          &out, Indent(depth_ + 1),
          graph_.outputs.size() == 1 ? Name(graph_.outputs[0]) : TupleOf(graph_.outputs));
    }
    absl::StrAppend(&out, "\n", Indent(depth_), "}");
  }

 private:
  void PrintSignature(const Attrs& attrs, std::string& out) {
    std::vector<std::string> parts;
    bool has_plain_names = true;
    std::vector<AttrValue> input_names;
    for (ValueId id : graph_.inputs) {
      const std::string& name = Name(id);
      has_plain_names &= name.substr(1) == graph_.value(id).name;
      input_names.emplace_back(graph_.value(id).name);
      parts.push_back(absl::StrCat(name, ": ", TypeOf({id})));
    }
    for (const auto& [name, value] : attrs.values()) {
      parts.push_back(absl::StrCat(AttrName(name), "=", value.ToString()));
    }
    if (!has_plain_names) {
      parts.push_back(absl::StrCat("input_names=", AttrValue(std::move(input_names)).ToString()));
    }
    if (!graph_.output_names.empty()) {
      const std::vector<AttrValue> names(graph_.output_names.begin(), graph_.output_names.end());
      parts.push_back(absl::StrCat("output_tensor_names=", AttrValue(names).ToString()));
    }
    absl::StrAppend(&out, "(", absl::StrJoin(parts, ", "), ")");
    if (options_.types && (graph_.outputs.size() == 1 || HasAllTypes(graph_.outputs))) {
      absl::StrAppend(&out, " -> ", TypeOf(graph_.outputs));
    }
  }

  // Prints `%3 = op(…) /* ty=… */;`. If the node is the result, the name and semicolon are omitted.
  void PrintNode(NodeId id, std::string& out) {
    const Node& node = graph_.node(id);
    if (node.is_group()) {
      const std::string function = absl::StrCat("%", next_name_++);
      absl::StrAppend(&out, Indent(depth_ + 1), function, " = fn ");
      Printer(*node.body, options_, depth_ + 1, constants_).PrintFunction(node.attrs, out);
      absl::StrAppend(&out, ";\n");
      PrintCall(id, function, out);
    } else {
      PrintCall(id, node.op->name, out);
    }
  }

  void PrintCall(NodeId id, absl::string_view callee, std::string& out) {
    const Node& node = graph_.node(id);
    absl::StrAppend(&out, Indent(depth_ + 1));
    // In the graph, a tuple of one field is the same value as the field. In the text they differ,
    // so the node gets a name and the result is its field: `%0.0`.
    last_is_result_ = static_cast<size_t>(id) + 1 == graph_.nodes.size() &&
                      node.outputs == graph_.outputs &&
                      !(IsTuple(node) && node.outputs.size() == 1);
    if (!last_is_result_) {
      const std::string name = absl::StrCat("%", next_name_++);
      absl::StrAppend(&out, name, " = ");
      const bool is_tuple = IsTuple(node);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        names_[static_cast<size_t>(node.outputs[i])] = is_tuple ? absl::StrCat(name, ".", i) : name;
      }
    }
    absl::StrAppend(&out, callee, "(", Arguments(node), ")");
    if (options_.types && HasType(node.outputs)) {
      absl::StrAppend(
          &out, " /* ty=", IsTuple(node) ? TupleTypeOf(node.outputs) : TypeOf(node.outputs), " */");
    }
    if (!last_is_result_) absl::StrAppend(&out, ";\n");
  }

  // True if a call of the node returns a tuple.
  static bool IsTuple(const Node& node) {
    return node.is_group() ? node.outputs.size() != 1 : node.op->GivesTuple(node.attrs);
  }

  std::string Arguments(const Node& node) {
    std::vector<std::string> parts;
    if (!node.is_group() && node.op->tuple_input) {
      parts.push_back(TupleOf(node.inputs));
    } else {
      for (ValueId input : node.inputs) parts.push_back(Name(input));
    }
    if (!node.is_group()) {
      for (const AttrSchema& attr : node.op->attrs) {
        const std::optional<std::string> text = AttrText(node, attr);
        if (text) parts.push_back(absl::StrCat(attr.name, "=", *text));
      }
    }
    return absl::StrJoin(parts, ", ");
  }

  std::optional<std::string> AttrText(const Node& node, const AttrSchema& attr) const {
    const AttrValue& value = node.attrs.Get(attr.name);
    if (attr.required || value != attr.NormalDefault()) return value.ToString();
    if (options_.written_default) return options_.written_default(node.op->name, attr);
    return std::nullopt;
  }

  // Returns the name of a value, the literal of a constant, or a reference to a constant in the
  // metadata section.
  const std::string& Name(ValueId id) {
    std::string& name = names_[static_cast<size_t>(id)];
    if (name.empty() && graph_.is_constant(id)) {
      const Tensor& constant = graph_.value(id).constant;
      std::optional<std::string> literal = ScalarLiteral(constant);
      if (literal) {
        name = *std::move(literal);
      } else {
        name = absl::StrCat("meta[relay.Constant][", constants_.tensors.size(), "]");
        if (options_.types) absl::StrAppend(&name, " /* ty=", constant.type().ToString(), " */");
        constants_.tensors.push_back(constant);
      }
    }
    return name;
  }

  std::string TupleOf(const std::vector<ValueId>& ids) {
    std::vector<std::string> names;
    for (ValueId id : ids) names.push_back(Name(id));
    return absl::StrCat("(", absl::StrJoin(names, ", "), ids.size() == 1 ? ",)" : ")");
  }

  bool HasType(const std::vector<ValueId>& ids) const {
    for (ValueId id : ids) {
      if (graph_.value(id).type) return true;
    }
    return ids.empty();
  }

  // Other parsers accept '_' as a type, but not within a tuple.
  bool HasAllTypes(const std::vector<ValueId>& ids) const {
    for (ValueId id : ids) {
      if (!graph_.value(id).type) return false;
    }
    return true;
  }

  std::string TupleTypeOf(const std::vector<ValueId>& ids) const {
    std::vector<std::string> types;
    for (ValueId id : ids) {
      types.push_back(graph_.value(id).type ? graph_.value(id).type->ToString() : "_");
    }
    return absl::StrCat("(", absl::StrJoin(types, ", "), ids.size() == 1 ? ",)" : ")");
  }

  // Returns the type of a single value, or a tuple type for several values.
  std::string TypeOf(const std::vector<ValueId>& ids) const {
    if (ids.size() != 1) return TupleTypeOf(ids);
    return graph_.value(ids[0]).type ? graph_.value(ids[0]).type->ToString() : "_";
  }

  const Graph& graph_;
  const PrintOptions& options_;
  const int depth_;
  ConstantTable& constants_;
  std::vector<std::string> names_;  // indexed by value; empty until it is named
  int next_name_ = 0;
  bool last_is_result_ = false;
};

}  // namespace

std::string PrintRelay(const Graph& graph, const PrintOptions& options) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main";
  ConstantTable constants;
  Printer(graph, options, 0, constants).PrintFunction(graph.attrs, text);
  absl::StrAppend(&text, "\n");
  if (options.metadata && !constants.tensors.empty()) {
    absl::StrAppend(&text, "\n#[metadata]\n", relay::WriteMetadata(constants.tensors));
  }
  return text;
}

}  // namespace kiln
