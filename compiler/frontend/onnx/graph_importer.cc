// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/graph_importer.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/advice.h"
#include "compiler/frontend/onnx/attribute_names.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/operator_ports.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// Limit for the constants of the file and the results of operators on constants.
constexpr int64_t kMaxConstantBytes = 2 * kMaxModelFileBytes;
constexpr int kMinOpset = 1;
constexpr int kMaxOpset = 26;
constexpr int kMaxMachineLearningOpset = 5;
constexpr int kMaxOtherOpset = 1 << 30;
// Maximum number of attributes in the message about an unsupported operator.
constexpr int kMaxAttributesTold = 12;

// Returns the tensors that the items are or contain.
std::vector<ValueId*> TensorsOf(std::vector<Item>& items) {
  std::vector<ValueId*> tensors;
  for (Item& item : items) {
    if (item.is_tensor()) tensors.push_back(&item.tensor);
    for (ValueId& value : item.sequence) tensors.push_back(&value);
  }
  return tensors;
}

std::string OperatorName(const onnx::NodeProto& node) {
  const absl::string_view domain = NormalDomain(node.domain());
  return domain.empty() ? node.op_type() : absl::StrCat(domain, ".", node.op_type());
}

std::string AttributeText(const onnx::AttributeProto& attr) {
  const auto list = [](const auto& values) {
    return values.size() > 8 ? absl::StrCat(values.size(), " values")
                             : absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  };
  switch (attr.type()) {
    case onnx::AttributeProto::INT:
      return absl::StrCat(attr.i());
    case onnx::AttributeProto::FLOAT:
      return absl::StrCat(attr.f());
    case onnx::AttributeProto::STRING:
      return absl::StrCat("'", attr.s().substr(0, 40), "'");
    case onnx::AttributeProto::INTS:
      return list(attr.ints());
    case onnx::AttributeProto::FLOATS:
      return list(attr.floats());
    case onnx::AttributeProto::STRINGS:
      return list(attr.strings());
    case onnx::AttributeProto::GRAPH:
      return "a graph";
    case onnx::AttributeProto::TENSOR:
      return "a tensor";
    default:
      return "…";
  }
}

// Gives the result of a node the first name that the model has for it.
void NameValue(Value& value, std::string name) {
  if (value.kind == ValueKind::kNodeOutput && value.name.empty()) value.name = std::move(name);
}

}  // namespace

absl::Status AddOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                       Opsets& opsets) {
  std::map<absl::string_view, int64_t> versions;
  for (const onnx::OperatorSetIdProto& id : imports) {
    const absl::string_view domain = NormalDomain(id.domain());
    const int64_t most = domain.empty()           ? kMaxOpset
                         : domain == "ai.onnx.ml" ? kMaxMachineLearningOpset
                                                  : kMaxOtherOpset;
    const std::string shown(domain.empty() ? "ai.onnx" : domain);
    if (id.version() < kMinOpset || id.version() > most) {
      return absl::UnimplementedError(
          absl::StrCat("operator set version: found ", id.version(), " of ", shown, ", wanted ",
                       most == kMaxOtherOpset ? absl::StrCat(kMinOpset, " or more")
                                              : absl::StrCat(kMinOpset, " to ", most),
                       domain.empty() ? "; convert the model with onnx.version_converter" : ""));
    }
    const auto [it, is_new] = versions.emplace(domain, id.version());
    if (!is_new && it->second != id.version()) {
      return Wrong("opset_import",
                   absl::StrCat("versions ", it->second, " and ", id.version(), " of ", shown),
                   "one version: ONNX does not permit two of one domain");
    }
    opsets[std::string(domain)] = static_cast<int>(id.version());
  }
  return absl::OkStatus();
}

std::string NodeName(const onnx::NodeProto& node, int index) {
  if (!node.name().empty()) return node.name();
  if (node.output_size() > 0 && !node.output(0).empty()) return node.output(0);
  return absl::StrCat(node.op_type(), "_", index);
}

GraphImporter::GraphImporter(const onnx::ModelProto& model, std::string path,
                             const OperatorTable& operators, const Evaluator& evaluate)
    : path_(std::move(path)),
      folder_(std::filesystem::path(path_).parent_path().string()),
      operators_(operators),
      problems_(path_, operators),
      folder_of_constants_(graph_, model.ByteSizeLong(), evaluate) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const FunctionName name = {std::string(NormalDomain(function.domain())), function.name()};
    if (functions_.emplace(name, &function).second) continue;
    problems_.Add(absl::UnimplementedError(
        absl::StrCat("function '", function.name(), "' of domain '", name.first,
                     "' is defined twice; overloads are not supported")));
  }
}

absl::StatusOr<Tensor> GraphImporter::Decode(const onnx::TensorProto& proto) {
  const auto it = decoded_.find(&proto);
  if (it != decoded_.end()) return it->second;
  KILN_ASSIGN_OR_RETURN(Tensor tensor, DecodeTensor(proto, folder_));
  return decoded_[&proto] = std::move(tensor);
}

void GraphImporter::AddInitializers(const onnx::GraphProto& graph, Scope& scope) {
  std::set<std::string> names;
  for (const onnx::TensorProto& initializer : graph.initializer()) {
    if (!names.insert(initializer.name()).second) {
      problems_.Add(absl::InvalidArgumentError(
          absl::StrCat("initializer '", initializer.name(), "' is defined twice")));
      continue;
    }
    if (scope.Has(initializer.name())) continue;
    const auto [it, is_new] = initializers_.emplace(&initializer, kNoId);
    if (is_new) {
      absl::StatusOr<Tensor> tensor = Decode(initializer);
      if (tensor.ok()) {
        it->second = graph_.AddConstant(*std::move(tensor), initializer.name());
      } else {
        problems_.Add(
            Annotate(tensor.status(), absl::StrCat("initializer '", initializer.name(), "': ")));
      }
    }
    Item item = it->second == kNoId ? Item::Unknown() : Item(it->second);
    if (FindStorageType(initializer.data_type()) != nullptr) {
      item.stored_as = initializer.data_type();
    }
    scope.Define(initializer.name(), std::move(item));
  }
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) {
    const std::string& name = sparse.values().name();
    problems_.Add(
        absl::UnimplementedError(absl::StrCat("initializer '", name, "' is a sparse tensor")));
    scope.Define(name, Item::Unknown());
  }
}

void GraphImporter::AddNodes(const Nodes& nodes, Scope& scope) {
  // The order is computed once, as a body may be imported many times.
  const auto [it, is_new] = orders_.try_emplace(&nodes);
  if (is_new) it->second = OrderOf(nodes, [&](const std::string& name) { return scope.Has(name); });
  const auto name_of = [&](int i) { return scope.prefix() + NodeName(nodes[i], i); };
  const NodeOrder& order = it->second;
  for (int i : order.sorted) {
    if (given_up_ || problems_.full()) return;
    AddNode(nodes[i], name_of(i), scope);
  }
  if (order.circle.empty()) return;
  std::vector<std::string> names;
  for (int i : order.circle) {
    names.push_back(name_of(i));
    for (const std::string& output : nodes[i].output()) scope.Define(output, Item::Unknown());
  }
  problems_.Add(absl::InvalidArgumentError(absl::StrCat(
      "the inputs of ", NodesText(names), " depend on outputs of the same: a circle")));
}

void GraphImporter::AddNode(const onnx::NodeProto& node, const std::string& name, Scope& scope) {
  const std::string where = absl::StrCat("node '", name, "' (", node.op_type(), "): ");
  const auto tell = [&](const absl::Status& status) {
    absl::Status annotated = Annotate(status, where);
    CopyInputsToFix(status, annotated);
    problems_.Add(annotated);
  };
  absl::StatusOr<std::vector<Item>> outputs = Import(node, name, scope);
  if (!outputs.ok()) tell(outputs.status());
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    Item item = outputs.ok() ? (*outputs)[static_cast<size_t>(i)] : Item::Unknown();
    // An output that the conversion omits is absent. Nodes that read it get an error.
    if (item.is_absent()) continue;
    if (item.is_tensor()) NameValue(graph_.value(item.tensor), scope.prefix() + node.output(i));
    if (scope.Define(node.output(i), std::move(item))) continue;
    tell(
        absl::InvalidArgumentError(absl::StrCat("output '", node.output(i), "' is defined twice")));
  }
}

absl::StatusOr<std::vector<Item>> GraphImporter::InputsOf(const onnx::NodeProto& node,
                                                          const Scope& scope) {
  std::vector<Item> inputs;
  for (const std::string& input : node.input()) {
    const Item* item = input.empty() ? nullptr : scope.Find(input);
    if (!input.empty() && item == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("input '", input, "' is made by no node"));
    }
    inputs.push_back(item == nullptr ? Item() : *item);
  }
  return inputs;
}

absl::StatusOr<std::vector<Item>> GraphImporter::Import(const onnx::NodeProto& node,
                                                        const std::string& name,
                                                        const Scope& scope) {
  std::vector<Item> unknown(static_cast<size_t>(node.output_size()), Item::Unknown());
  const OnnxOperator* const op = operators_.Find(node.domain(), node.op_type());
  const onnx::FunctionProto* const function = FindFunction(node);
  KILN_RETURN_IF_ERROR(CheckAttributeValues(node));
  absl::StatusOr<std::vector<Item>> inputs = InputsOf(node, scope);
  if (op == nullptr && function == nullptr) {
    AddUnsupported(node, name, inputs.value_or(std::vector<Item>()));
    CheckBodies(node, name, scope.depth());
    return unknown;
  }
  if (!inputs.ok()) return inputs.status();
  for (const Item& item : *inputs) {
    if (!item.is_unknown()) continue;
    CheckBodies(node, name, scope.depth());
    return unknown;
  }
  std::vector<Item> outputs;
  if (function != nullptr) {
    KILN_ASSIGN_OR_RETURN(outputs, ImportFunction(*function, node, scope, name, *inputs));
  } else {
    const int version = scope.Opset(NormalDomain(node.domain()));
    KILN_RETURN_IF_ERROR(CheckAttributeNames(node, version));
    KILN_RETURN_IF_ERROR(CheckPorts(node, version));
    Converter converter(node, scope, {.file = path_, .node = name}, *std::move(inputs), *this);
    KILN_RETURN_IF_ERROR(converter.Run(*op));
    outputs = converter.outputs();
  }
  outputs.resize(static_cast<size_t>(node.output_size()));
  if (given_up_) return outputs;  // the body has reported why
  if (static_cast<int64_t>(graph_.nodes.size()) > kMaxGraphNodes) {
    given_up_ = true;
    return absl::InvalidArgumentError(
        absl::StrCat("the model becomes more than ", kMaxGraphNodes, " operators"));
  }
  KILN_RETURN_IF_ERROR(Fold(TensorsOf(outputs)));
  KILN_RETURN_IF_ERROR(CountConstants());
  return outputs;
}

absl::Status GraphImporter::CountConstants() {
  for (; counted_values_ < graph_.values.size(); ++counted_values_) {
    const Value& value = graph_.values[counted_values_];
    if (value.kind == ValueKind::kConstant) constant_bytes_ += value.constant.type().num_bytes();
  }
  if (constant_bytes_ <= kMaxConstantBytes) return absl::OkStatus();
  given_up_ = true;
  return absl::InvalidArgumentError(
      absl::StrCat("the model's constants have more than ", kMaxConstantBytes, " bytes"));
}

absl::StatusOr<std::vector<Item>> GraphImporter::OutputsOf(const onnx::GraphProto& graph,
                                                           const Scope& scope) {
  std::vector<Item> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) {
    const Item* item = scope.Find(output.name());
    if (item == nullptr || item->is_absent()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no node makes the output '", output.name(), "'"));
    }
    outputs.push_back(*item);
  }
  return outputs;
}

absl::StatusOr<std::vector<Item>> GraphImporter::ImportBody(const onnx::GraphProto& body,
                                                            const Scope& outer,
                                                            const std::string& node,
                                                            const std::vector<Item>& inputs) {
  KILN_RETURN_IF_ERROR(Charge(1 + body.node_size(), outer.depth() + 1));
  Scope scope(outer, node + "/");
  // Values added for the inputs, such as pieces of a tensor, may be constant.
  std::vector<Item> known = inputs;
  KILN_RETURN_IF_ERROR(Fold(TensorsOf(known)));
  for (int i = 0; i < body.input_size() && static_cast<size_t>(i) < known.size(); ++i) {
    if (scope.Define(body.input(i).name(), known[static_cast<size_t>(i)])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("two inputs of the body are called '", body.input(i).name(), "'"));
  }
  AddInitializers(body, scope);
  AddNodes(body.node(), scope);
  std::vector<Item> unknown(static_cast<size_t>(body.output_size()), Item::Unknown());
  if (given_up_ || problems_.full()) return unknown;
  return OutputsOf(body, scope);
}

absl::Status GraphImporter::Charge(int64_t nodes, int depth) {
  unrolled_nodes_ += nodes;
  if (unrolled_nodes_ > kMaxUnrolledNodes) {
    given_up_ = true;
    return absl::InvalidArgumentError(
        absl::StrCat("the model's loops and functions, written out, have more than ",
                     kMaxUnrolledNodes, " nodes; make them fewer or shorter"));
  }
  if (depth > kMaxBodyDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("bodies inside of bodies: found more than ", kMaxBodyDepth, " levels"));
  }
  return absl::OkStatus();
}

void GraphImporter::CheckBodies(const onnx::NodeProto& node, const std::string& name, int depth) {
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (attr.has_g()) CheckOperators(attr.g().node(), name + "/", depth + 1);
  }
  const onnx::FunctionProto* const function = FindFunction(node);
  if (function == nullptr || !open_functions_.insert(function).second) return;
  CheckOperators(function->node(), name + "/", depth + 1);
  open_functions_.erase(function);
}

void GraphImporter::CheckOperators(const Nodes& nodes, const std::string& prefix, int depth) {
  // Deeper nesting and repeated calls of functions are not worth checking.
  if (!Charge(nodes.size(), depth).ok()) return;
  for (int i = 0; i < nodes.size() && !problems_.full(); ++i) {
    const std::string name = prefix + NodeName(nodes[i], i);
    if (operators_.Find(nodes[i].domain(), nodes[i].op_type()) == nullptr &&
        FindFunction(nodes[i]) == nullptr) {
      AddUnsupported(nodes[i], name, {});
    }
    CheckBodies(nodes[i], name, depth);
  }
}

void GraphImporter::AddUnsupported(const onnx::NodeProto& node, const std::string& name,
                                   const std::vector<Item>& inputs) {
  std::string details;
  std::vector<std::string> types;
  for (const Item& item : inputs) {
    types.push_back(item.is_tensor() ? graph_.type(item.tensor).ToString() : item.name());
  }
  if (!types.empty()) absl::StrAppend(&details, "; inputs ", absl::StrJoin(types, ", "));
  std::vector<std::string> attributes;
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (static_cast<int>(attributes.size()) == kMaxAttributesTold) break;
    attributes.push_back(absl::StrCat(attr.name(), " = ", AttributeText(attr)));
  }
  if (!attributes.empty()) {
    absl::StrAppend(&details, "; attributes ", absl::StrJoin(attributes, ", "));
  }
  absl::StrAppend(&details, AdviceOn(NormalDomain(node.domain()), node.op_type()));
  problems_.AddOperator(OperatorName(node), name, details);
}

}  // namespace kiln::onnx_frontend
