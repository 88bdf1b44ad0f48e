// SPDX-License-Identifier: Apache-2.0
// Functions of a model: nodes that stand for other nodes. Each call is expanded.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/graph_importer.h"

namespace kiln::onnx_frontend {
namespace {

// Field attribute_proto: attributes of a function that have defaults. It is newer than the ONNX
// protobuf schema that Kiln is built with.
constexpr int kAttributeProtoField = 11;

absl::StatusOr<std::vector<onnx::AttributeProto>> DefaultsOf(const onnx::FunctionProto& function) {
  std::vector<onnx::AttributeProto> defaults;
  const google::protobuf::UnknownFieldSet& fields = function.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() != kAttributeProtoField) continue;
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED ||
        !defaults.emplace_back().ParseFromString(field.length_delimited())) {
      return absl::InvalidArgumentError("the defaults of its attributes cannot be read");
    }
  }
  return defaults;
}

}  // namespace

const onnx::FunctionProto* GraphImporter::FindFunction(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find({std::string(NormalDomain(node.domain())), node.op_type()});
  return it == functions_.end() ? nullptr : it->second;
}

absl::StatusOr<std::vector<Item>> GraphImporter::ImportFunction(const onnx::FunctionProto& function,
                                                                const onnx::NodeProto& node,
                                                                const Scope& caller,
                                                                const std::string& name,
                                                                const std::vector<Item>& inputs) {
  KILN_RETURN_IF_ERROR(Charge(1 + function.node_size(), caller.depth() + 1));
  if (static_cast<int>(inputs.size()) > function.input_size() ||
      node.output_size() > function.output_size()) {
    return Wrong("call of a function",
                 absl::StrCat(inputs.size(), " inputs and ", node.output_size(), " outputs"),
                 absl::StrCat("at most ", function.input_size(), " and ", function.output_size()));
  }
  const auto defaults = default_attributes_.find(&function);
  if (defaults == default_attributes_.end()) {
    KILN_ASSIGN_OR_RETURN(default_attributes_[&function], DefaultsOf(function));
  }
  AttributeBindings bindings;
  for (const onnx::AttributeProto& attr : default_attributes_[&function]) {
    bindings[attr.name()] = &attr;
  }
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.ref_attr_name().empty()) {
      bindings[attr.name()] = &attr;
      continue;
    }
    const auto bound = caller.bindings().find(attr.ref_attr_name());
    if (bound != caller.bindings().end()) bindings[attr.name()] = bound->second;
  }
  Opsets opsets = caller.opsets();
  KILN_RETURN_IF_ERROR(AddOpsets(function.opset_import(), opsets));
  if (!open_functions_.insert(&function).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("function '", function.name(), "' calls itself"));
  }
  Scope scope(std::move(opsets), name + "/", std::move(bindings), caller.depth() + 1);
  absl::Status status;
  for (int i = 0; i < function.input_size(); ++i) {
    // An omitted input is also absent inside the function.
    const Item item = i < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(i)] : Item();
    if (!scope.Define(function.input(i), item)) {
      status = absl::InvalidArgumentError(
          absl::StrCat("two inputs of the function are called '", function.input(i), "'"));
    }
  }
  if (status.ok()) AddNodes(function.node(), scope);
  open_functions_.erase(&function);
  KILN_RETURN_IF_ERROR(status);
  std::vector<Item> outputs;
  for (int i = 0; i < node.output_size(); ++i) {
    const Item* item = scope.Find(function.output(i));
    const bool stopped = given_up_ || problems_.full();
    if (item == nullptr && !stopped && !node.output(i).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no node of the function makes its output '", function.output(i), "'"));
    }
    outputs.push_back(item == nullptr ? (stopped ? Item::Unknown() : Item()) : *item);
  }
  return outputs;
}

}  // namespace kiln::onnx_frontend
