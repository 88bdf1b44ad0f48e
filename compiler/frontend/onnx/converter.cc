// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/converter.h"

#include <algorithm>
#include <set>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/graph_importer.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/ops/op_def.h"

namespace kiln::onnx_frontend {
namespace {

// Key of a payload of errors: names of inputs, each followed by a newline.
constexpr char kInputsToFix[] = "kiln/inputs-to-fix";

// Returns the names of the graph's inputs that `value` is computed from.
std::vector<std::string> InputsOf(const Graph& graph, ValueId value) {
  std::vector<std::string> names;
  std::set<ValueId> seen = {value};
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const Value& v = graph.value(open.back());
    open.pop_back();
    if (v.kind == ValueKind::kInput) names.push_back(v.name);
    if (v.kind != ValueKind::kNodeOutput) continue;
    for (ValueId input : graph.node(v.node).inputs) {
      if (seen.insert(input).second) open.push_back(input);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status ConvertByName(Converter& c, absl::string_view relay) {
  std::vector<ValueId> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    inputs.push_back(input);
  }
  return c.Output(0, c.Op(relay, std::move(inputs)));
}

}  // namespace

std::vector<std::string> InputsToFix(const absl::Status& error) {
  const absl::optional<absl::Cord> names = error.GetPayload(kInputsToFix);
  if (!names.has_value()) return {};
  return absl::StrSplit(std::string(*names), '\n', absl::SkipEmpty());
}

void SetInputsToFix(const std::vector<std::string>& names, absl::Status& status) {
  const std::string text = absl::StrJoin(names, "\n");
  // Passes a string_view, as compilers disagree on the symbol of the constructor that takes a
  // string.
  status.SetPayload(kInputsToFix, absl::Cord(absl::string_view(text)));
}

void CopyInputsToFix(const absl::Status& from, absl::Status& to) {
  const absl::optional<absl::Cord> names = from.GetPayload(kInputsToFix);
  if (names.has_value()) to.SetPayload(kInputsToFix, *names);
}

Converter::Converter(const onnx::NodeProto& node, const Scope& scope, SourceLocation source,
                     std::vector<Item> inputs, GraphImporter& importer)
    : Adder(importer.graph(), std::move(source)),
      node_(node),
      scope_(scope),
      opset_(scope.Opset(NormalDomain(node.domain()))),
      inputs_(std::move(inputs)),
      importer_(importer) {}

absl::StatusOr<ValueId> Converter::Input(int i) const {
  if (!HasInput(i)) {
    return Wrong("inputs", absl::StrCat("input ", i, " is missing"),
                 absl::StrCat("at least ", i + 1));
  }
  const Item& item = inputs_[static_cast<size_t>(i)];
  if (item.is_tensor()) return item.tensor;
  return Wrong(absl::StrCat("input '", node_.input(i), "'"), item.name(), "a tensor");
}

Item Converter::InputItem(int i) const {
  return i < num_inputs() ? inputs_[static_cast<size_t>(i)] : Item();
}

absl::StatusOr<std::vector<ValueId>> Converter::SequenceInput(int i) const {
  const Item item = InputItem(i);
  if (item.is_sequence()) return item.sequence;
  return Wrong(absl::StrCat("input ", i), item.name(), "a sequence");
}

absl::StatusOr<Tensor> Converter::ConstantInput(int i, absl::string_view what) const {
  KILN_ASSIGN_OR_RETURN(const ValueId input, Input(i));
  return ConstantValue(input, absl::StrCat(what, " (input '", node_.input(i), "')"));
}

std::string OptionsToFix(const std::vector<std::string>& inputs) {
  return absl::StrJoin(inputs, " ", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, "--constant ", name, "=VALUE");
  });
}

absl::StatusOr<Tensor> Converter::ConstantValue(ValueId value, absl::string_view what) const {
  KILN_ASSIGN_OR_RETURN(std::optional<Tensor> known, KnownValue(value));
  if (known.has_value()) return *std::move(known);
  const std::vector<std::string> names = InputsOf(graph(), value);
  if (names.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        what, " is computed from more data, or in more operations, than an import takes"));
  }
  absl::Status error = absl::UnimplementedError(
      absl::StrCat(what, " is computed from the model's input '", absl::StrJoin(names, "', '"),
                   "'; it must be known when the model is compiled: fix it with ",
                   OptionsToFix(names), ", or end the model before this node (--outputs)"));
  SetInputsToFix(names, error);
  return error;
}

absl::StatusOr<std::optional<Tensor>> Converter::KnownValue(ValueId value) const {
  return importer_.ValueOf(value);
}

const onnx::AttributeProto* Converter::FindAttr(absl::string_view name) const {
  for (const onnx::AttributeProto& attr : node_.attribute()) {
    if (attr.name() != name) continue;
    if (attr.ref_attr_name().empty()) return &attr;
    const auto bound = scope_.bindings().find(attr.ref_attr_name());
    return bound == scope_.bindings().end() ? nullptr : bound->second;
  }
  return nullptr;
}

const onnx::AttributeProto* Converter::TypedAttr(absl::string_view name,
                                                 onnx::AttributeProto::AttributeType type) const {
  const onnx::AttributeProto* attr = FindAttr(name);
  // Old files do not declare the type.
  if (attr == nullptr || attr->type() == type || attr->type() == onnx::AttributeProto::UNDEFINED) {
    return attr;
  }
  if (attributes_.ok()) {
    attributes_ = Wrong(absl::StrCat("attribute ", name),
                        onnx::AttributeProto::AttributeType_Name(attr->type()),
                        onnx::AttributeProto::AttributeType_Name(type));
  }
  return nullptr;
}

int64_t Converter::Int(absl::string_view name, int64_t otherwise) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::INT);
  return attr == nullptr ? otherwise : attr->i();
}

double Converter::Float(absl::string_view name, double otherwise) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::FLOAT);
  return attr == nullptr ? otherwise : attr->f();
}

std::string Converter::String(absl::string_view name, std::string otherwise) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::STRING);
  if (attr == nullptr) return otherwise;
  return attr->s();
}

std::vector<int64_t> Converter::Ints(absl::string_view name, std::vector<int64_t> otherwise) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::INTS);
  if (attr == nullptr) return otherwise;
  return {attr->ints().begin(), attr->ints().end()};
}

std::vector<double> Converter::Floats(absl::string_view name) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::FLOATS);
  if (attr == nullptr) return {};
  return {attr->floats().begin(), attr->floats().end()};
}

std::vector<std::string> Converter::Strings(absl::string_view name) const {
  const onnx::AttributeProto* attr = TypedAttr(name, onnx::AttributeProto::STRINGS);
  if (attr == nullptr) return {};
  return {attr->strings().begin(), attr->strings().end()};
}

absl::StatusOr<Tensor> Converter::TensorAttr(absl::string_view name) const {
  const onnx::AttributeProto* attr = FindAttr(name);
  if (attr == nullptr || !attr->has_t()) {
    return absl::InvalidArgumentError(absl::StrCat("attribute ", name, " is missing"));
  }
  return importer_.Decode(attr->t());
}

absl::StatusOr<std::optional<std::vector<int64_t>>> Converter::IntsAttrOrInput(
    absl::string_view name, int i) const {
  if (HasAttr(name)) return Ints(name);
  if (!HasInput(i)) return std::optional<std::vector<int64_t>>();
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, ConstantInput(i, name));
  return tensor.ToInts();
}

absl::StatusOr<bool> Converter::WidenInputs() {
  bool any = false;
  for (Item& item : inputs_) {
    if (!item.is_tensor() || type(item.tensor).dtype != DType::Float(16)) continue;
    KILN_ASSIGN_OR_RETURN(item.tensor, Cast(item.tensor, DType::Float(32)));
    KILN_RETURN_IF_ERROR(Fold({&item.tensor}));
    any = true;
  }
  return any;
}

absl::Status Converter::NarrowOutputs() {
  for (Item& item : outputs_) {
    if (!item.is_tensor() || type(item.tensor).dtype != DType::Float(32)) continue;
    KILN_ASSIGN_OR_RETURN(item.tensor, Cast(item.tensor, DType::Float(16)));
  }
  return absl::OkStatus();
}

absl::Status Converter::Run(const OnnxOperator& op) {
  bool widened = false;
  if (op.rounds_once) {
    KILN_ASSIGN_OR_RETURN(widened, WidenInputs());
  }
  const absl::Status converted =
      op.convert != nullptr ? op.convert(*this) : ConvertByName(*this, op.relay);
  KILN_RETURN_IF_ERROR(attributes());
  KILN_RETURN_IF_ERROR(converted);
  return widened ? NarrowOutputs() : absl::OkStatus();
}

absl::StatusOr<ValueId> Converter::Apply(absl::string_view name, std::vector<Item> inputs) {
  Converter other(node_, scope_, source(), std::move(inputs), importer_);
  KILN_RETURN_IF_ERROR(other.Run(*importer_.operators().Find("", name)));
  return other.outputs().at(0).tensor;
}

absl::Status Converter::Fold(const std::vector<ValueId*>& values) { return importer_.Fold(values); }

ValueId Converter::AddNoise(TensorType type, absl::string_view distribution) {
  const std::string name = absl::StrCat(scope_.prefix(), node_.output(0), ".noise");
  return importer_.AddInput(
      type, {.name = name,
             .note = absl::StrCat("node '", source().node, "' (", node_.op_type(),
                                  "): its random numbers are the input '", name, "', ",
                                  type.ToString(), ", of ", distribution)});
}

bool Converter::WantsOutput(int i) const {
  return i < node_.output_size() && !node_.output(i).empty();
}

void Converter::SetOutput(int i, Item item) {
  if (outputs_.size() <= static_cast<size_t>(i)) outputs_.resize(static_cast<size_t>(i) + 1);
  outputs_[static_cast<size_t>(i)] = std::move(item);
}

absl::Status Converter::Output(int i, absl::StatusOr<Item> item) {
  KILN_RETURN_IF_ERROR(item.status());
  SetOutput(i, *std::move(item));
  return absl::OkStatus();
}

void Converter::SetOutputsUnknown() {
  outputs_.assign(static_cast<size_t>(node_.output_size()), Item::Unknown());
}

absl::StatusOr<const onnx::GraphProto*> Converter::Body(absl::string_view name, int num_inputs,
                                                        int num_outputs) const {
  const onnx::AttributeProto* attr = FindAttr(name);
  if (attr == nullptr || !attr->has_g()) {
    return absl::InvalidArgumentError(absl::StrCat("attribute ", name, ", a graph, is missing"));
  }
  const onnx::GraphProto& body = attr->g();
  if (num_inputs >= 0 && body.input_size() != num_inputs) {
    return Wrong(name, absl::StrCat(body.input_size(), " inputs"), absl::StrCat(num_inputs));
  }
  if (num_outputs >= 0 && body.output_size() != num_outputs) {
    return Wrong(name, absl::StrCat(body.output_size(), " outputs"), absl::StrCat(num_outputs));
  }
  return &body;
}

size_t Converter::num_problems() const { return importer_.problems().size(); }

absl::StatusOr<std::vector<Item>> Converter::ImportBody(const onnx::GraphProto& body,
                                                        const std::vector<Item>& inputs) {
  return importer_.ImportBody(body, scope_, source().node, inputs);
}

void Converter::CheckBody(const onnx::GraphProto& body) {
  importer_.CheckOperators(body.node(), source().node + "/", scope_.depth() + 1);
}

}  // namespace kiln::onnx_frontend
