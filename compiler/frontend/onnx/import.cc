// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/tensor_proto.h"
#include "compiler/graph/rewrite.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace kiln::onnx_frontend {
namespace {

constexpr int kMinOpset = 1;
constexpr int kMaxOpset = 22;
// Results of constants up to this size are computed at once, so that shapes are known; larger ones
// are left to constant folding.
constexpr int64_t kMaxFoldedElements = 1 << 16;

class Importer {
 public:
  Importer(const onnx::ModelProto& model, const std::string& path, const ImportOptions& options,
           const Evaluator& evaluate)
      : model_(model),
        path_(path),
        folder_(std::filesystem::path(path).parent_path().string()),
        options_(options),
        evaluate_(evaluate) {}

  absl::StatusOr<Graph> Run() && {
    KILN_RETURN_IF_ERROR(ReadOpset());
    KILN_RETURN_IF_ERROR(CheckOperators());
    const onnx::GraphProto& graph = model_.graph();
    if (graph.sparse_initializer_size() > 0) {
      return absl::UnimplementedError(absl::StrCat(path_, ": sparse initialisers"));
    }
    for (const onnx::TensorProto& initializer : graph.initializer()) {
      absl::StatusOr<Tensor> tensor = DecodeTensor(initializer, folder_);
      if (!tensor.ok()) {
        return Annotate(tensor.status(),
                        absl::StrCat(path_, ": initialiser '", initializer.name(), "': "));
      }
      values_[initializer.name()] = graph_.AddConstant(*std::move(tensor), initializer.name());
    }
    for (const auto& [name, value] : values_) initialisers_.insert(name);
    KILN_RETURN_IF_ERROR(CheckOptions());
    for (const onnx::ValueInfoProto& input : graph.input()) KILN_RETURN_IF_ERROR(AddInput(input));
    for (int i = 0; i < graph.node_size(); ++i) KILN_RETURN_IF_ERROR(AddNode(graph.node(i), i));
    for (const onnx::ValueInfoProto& output : graph.output()) {
      const auto it = values_.find(output.name());
      if (it == values_.end() || it->second == kNoId) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": no node makes the output '", output.name(), "'"));
      }
      graph_.outputs.push_back(it->second);
      graph_.output_names.push_back(output.name());
    }
    if (graph_.outputs.empty())
      return absl::InvalidArgumentError(absl::StrCat(path_, ": the model has no outputs"));
    return RemoveDeadNodes(graph_);
  }

 private:
  absl::Status ReadOpset() {
    for (const onnx::OperatorSetIdProto& id : model_.opset_import()) {
      if (id.domain().empty() || id.domain() == "ai.onnx") opset_ = static_cast<int>(id.version());
    }
    if (opset_ >= kMinOpset && opset_ <= kMaxOpset) return absl::OkStatus();
    return absl::UnimplementedError(
        absl::StrCat(path_, ": operator set version: found ", opset_, ", wanted ", kMinOpset,
                     " to ", kMaxOpset, "; convert the model with onnx.version_converter"));
  }

  // All operators that cannot be imported, at once.
  absl::Status CheckOperators() const {
    std::map<std::string, std::string> unknown;  // operator to the first node that has it
    for (int i = 0; i < model_.graph().node_size(); ++i) {
      const onnx::NodeProto& node = model_.graph().node(i);
      if (FindOperator(node.domain(), node.op_type()) != nullptr) continue;
      const std::string name =
          node.domain().empty() ? node.op_type() : absl::StrCat(node.domain(), ".", node.op_type());
      unknown.emplace(name, NodeName(node, i));
    }
    if (unknown.empty()) return absl::OkStatus();
    std::vector<std::string> lines;
    for (const auto& [op, node] : unknown)
      lines.push_back(absl::StrCat("operator ", op, " is not supported (node '", node, "')"));
    return absl::UnimplementedError(
        absl::StrCat(path_, ": ", absl::StrJoin(lines, "\n" + path_ + ": ")));
  }

  static std::string NodeName(const onnx::NodeProto& node, int index) {
    if (!node.name().empty()) return node.name();
    if (node.output_size() > 0 && !node.output(0).empty()) return node.output(0);
    return absl::StrCat(node.op_type(), "_", index);
  }

  const InputPin* FindPin(const std::string& name) const {
    for (const InputPin& pin : options_.pins) {
      if (pin.name == name) return &pin;
    }
    return nullptr;
  }

  // What the user says is about inputs that there are.
  absl::Status CheckOptions() const {
    std::set<std::string> names;
    for (const onnx::ValueInfoProto& input : model_.graph().input()) {
      if (!initialisers_.contains(input.name())) names.insert(input.name());
    }
    const auto check = [&](const char* option, const std::string& name) -> absl::Status {
      if (names.contains(name)) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": ", option, ": the model has no input '", name,
                       "'; its inputs are ", absl::StrJoin(names, ", ")));
    };
    for (const InputPin& pin : options_.pins) KILN_RETURN_IF_ERROR(check("--input", pin.name));
    for (const auto& [name, tensor] : options_.constants) {
      KILN_RETURN_IF_ERROR(check("--constant", name));
    }
    return absl::OkStatus();
  }

  absl::Status AddInput(const onnx::ValueInfoProto& input) {
    if (initialisers_.contains(input.name())) return absl::OkStatus();  // older models list them
    const std::string where = absl::StrCat(path_, ": input '", input.name(), "': ");
    if (!input.type().has_tensor_type()) return absl::UnimplementedError(where + "not a tensor");
    const onnx::TypeProto::Tensor& proto = input.type().tensor_type();
    absl::StatusOr<DType> dtype = DTypeOf(proto.elem_type());
    if (!dtype.ok()) return Annotate(dtype.status(), where);
    TensorType type{{}, *dtype};
    const auto fixed = options_.constants.find(input.name());
    const Tensor* const constant = fixed == options_.constants.end() ? nullptr : &fixed->second;
    if (constant != nullptr && constant->type().dtype != *dtype) {
      return absl::InvalidArgumentError(absl::StrCat(where, "--constant: found ",
                                                     constant->type().dtype.ToString(), ", wanted ",
                                                     dtype->ToString()));
    }
    const InputPin of_constant = {input.name(),
                                  constant == nullptr ? Shape() : constant->type().shape, *dtype};
    const InputPin* const pin = constant == nullptr ? FindPin(input.name()) : &of_constant;
    if (pin != nullptr) {
      if (pin->dtype.has_value() && *pin->dtype != *dtype) {
        return absl::InvalidArgumentError(absl::StrCat(
            where, "--input: found ", pin->dtype->ToString(), ", wanted ", dtype->ToString()));
      }
      type.shape = pin->shape;
    }
    if (proto.has_shape())
      KILN_RETURN_IF_ERROR(MergeShape(proto.shape(), pin, input.name(), where, type.shape));
    if (!proto.has_shape() && pin == nullptr) {
      return absl::InvalidArgumentError(where + "has no shape; give one with --input " +
                                        input.name() + ":1x3x224x224");
    }
    KILN_RETURN_IF_ERROR(Annotate(CheckTensorType(type), where));
    if (constant != nullptr) {
      values_[input.name()] = graph_.AddConstant(*constant, input.name());
      return absl::OkStatus();
    }
    values_[input.name()] = graph_.AddInput(input.name(), std::move(type));
    return absl::OkStatus();
  }

  // The model's shape with the pin's in place of what is dynamic.
  static absl::Status MergeShape(const onnx::TensorShapeProto& proto, const InputPin* pin,
                                 const std::string& name, const std::string& where, Shape& shape) {
    if (pin != nullptr && pin->shape.size() != static_cast<size_t>(proto.dim_size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, "--input: found rank ", pin->shape.size(), ", wanted ", proto.dim_size()));
    }
    Shape merged;
    std::string dynamic;
    for (int i = 0; i < proto.dim_size(); ++i) {
      const auto& dim = proto.dim(i);
      const bool fixed = dim.has_dim_value() && dim.dim_value() > 0;
      if (pin != nullptr) {
        if (fixed && dim.dim_value() != pin->shape[static_cast<size_t>(i)]) {
          return absl::InvalidArgumentError(
              absl::StrCat(where, "--input: found ", pin->shape[static_cast<size_t>(i)],
                           " as dimension ", i, ", wanted ", dim.dim_value()));
        }
        merged.push_back(pin->shape[static_cast<size_t>(i)]);
      } else if (fixed || (dim.has_dim_value() && dim.dim_value() == 0)) {
        merged.push_back(dim.dim_value());
      } else {
        absl::StrAppend(&dynamic, dynamic.empty() ? "" : ", ", i,
                        dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')");
        merged.push_back(1);
      }
    }
    if (!dynamic.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(where, "dimension ", dynamic,
                                                     " is dynamic; give the shape with --input ",
                                                     name, ":", absl::StrJoin(merged, "x")));
    }
    shape = std::move(merged);
    return absl::OkStatus();
  }

  absl::Status AddNode(const onnx::NodeProto& node, int index) {
    const std::string name = NodeName(node, index);
    const std::string where = absl::StrCat(path_, ": node '", name, "' (", node.op_type(), "): ");
    std::vector<ValueId> inputs;
    for (const std::string& input : node.input()) {
      if (input.empty()) {
        inputs.push_back(kNoId);
        continue;
      }
      const auto it = values_.find(input);
      if (it == values_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "input '", input, "' is made by no node before it"));
      }
      inputs.push_back(it->second);
    }
    Converter converter(node, opset_, folder_, {.file = path_, .node = name}, std::move(inputs),
                        graph_);
    const OnnxOperator& op = *FindOperator(node.domain(), node.op_type());
    absl::Status status =
        op.convert != nullptr ? op.convert(converter) : ConvertByName(converter, op.relay);
    if (!status.ok()) {
      absl::Status annotated = Annotate(status, where);
      CopyInputsToFix(status, annotated);
      return annotated;
    }
    std::vector<ValueId> outputs = converter.outputs();
    outputs.resize(static_cast<size_t>(node.output_size()), kNoId);
    if (absl::Status folded = FoldSmall(outputs); !folded.ok()) return Annotate(folded, where);
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      if (!values_.emplace(node.output(i), outputs[static_cast<size_t>(i)]).second) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "output '", node.output(i), "' is defined twice"));
      }
      if (outputs[static_cast<size_t>(i)] == kNoId) values_.erase(node.output(i));
    }
    return absl::OkStatus();
  }

  static absl::Status ConvertByName(Converter& c, absl::string_view relay) {
    std::vector<ValueId> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) {
      KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
      inputs.push_back(input);
    }
    KILN_ASSIGN_OR_RETURN(const ValueId y, c.Op(relay, std::move(inputs)));
    c.SetOutput(0, y);
    return absl::OkStatus();
  }

  // Whether `value` depends on no input.
  bool IsFixed(ValueId value) const {
    const Value& v = graph_.value(value);
    return v.kind == ValueKind::kConstant ||
           (v.kind == ValueKind::kNodeOutput && fixed_.contains(v.node));
  }

  // Computes outputs that depend on constants alone and are small.
  absl::Status FoldSmall(std::vector<ValueId>& outputs) {
    bool all_fixed = true;
    int64_t elements = 0;
    for (NodeId id = next_node_; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      const Node& node = graph_.node(id);
      const bool fixed = std::all_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId v) { return IsFixed(v); });
      for (ValueId v : node.inputs) elements += graph_.type(v).num_elements();
      if (fixed) fixed_.insert(id);
      all_fixed &= fixed;
    }
    const bool any_new = next_node_ < static_cast<NodeId>(graph_.nodes.size());
    next_node_ = static_cast<NodeId>(graph_.nodes.size());
    std::vector<size_t> computed;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == kNoId || graph_.value(outputs[i]).kind != ValueKind::kNodeOutput) continue;
      elements += graph_.type(outputs[i]).num_elements();
      computed.push_back(i);
    }
    if (!any_new || !all_fixed || computed.empty() || elements > kMaxFoldedElements)
      return absl::OkStatus();
    Graph constants = graph_;
    constants.inputs.clear();
    constants.outputs.clear();
    constants.output_names.clear();
    for (size_t i : computed) constants.outputs.push_back(outputs[i]);
    KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, evaluate_(RemoveDeadNodes(constants)));
    for (size_t k = 0; k < computed.size(); ++k)
      outputs[computed[k]] = graph_.AddConstant(tensors[k]);
    return absl::OkStatus();
  }

  const onnx::ModelProto& model_;
  const std::string& path_;
  std::string folder_;
  const ImportOptions& options_;
  const Evaluator& evaluate_;
  int opset_ = 0;
  Graph graph_;
  std::map<std::string, ValueId> values_;
  std::set<std::string> initialisers_;
  std::set<NodeId> fixed_;
  NodeId next_node_ = 0;
};

}  // namespace

namespace {

absl::Status ParseModel(absl::string_view bytes, const std::string& path, onnx::ModelProto& model) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(static_cast<int>(kMaxModelFileBytes - 1));
  if (model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage() && model.has_graph()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": found neither Relay text nor a whole ONNX model; the file may be cut off"));
}

ModelPort PortOf(const onnx::ValueInfoProto& value) {
  const onnx::TypeProto& type = value.type();
  ModelPort port = {.name = value.name(), .kind = "tensor"};
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      port.kind = "sequence";
      break;
    case onnx::TypeProto::kMapType:
      port.kind = "map";
      break;
    case onnx::TypeProto::kOptionalType:
      port.kind = "optional";
      break;
    case onnx::TypeProto::kSparseTensorType:
      port.kind = "sparse tensor";
      break;
    default: {
      const absl::StatusOr<DType> dtype = DTypeOf(type.tensor_type().elem_type());
      if (dtype.ok()) port.dtype = *dtype;
      if (type.tensor_type().has_shape()) port.rank = type.tensor_type().shape().dim_size();
    }
  }
  return port;
}

}  // namespace

absl::StatusOr<InputPin> ParseInputPin(absl::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        "--input: found '", text, "', wanted name:1x3x224x224 or name:1x3x224x224:float32"));
  };
  InputPin pin;
  std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() > 2) {
    if (absl::StatusOr<DType> dtype = DType::Parse(parts.back()); dtype.ok()) {
      pin.dtype = *dtype;
      parts.pop_back();
    }
  }
  if (parts.size() < 2) return wrong();
  for (absl::string_view extent : absl::StrSplit(parts.back(), 'x', absl::SkipEmpty())) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(extent, &value) || value < 0) return wrong();
    pin.shape.push_back(value);
  }
  parts.pop_back();
  pin.name = absl::StrJoin(parts, ":");
  if (pin.name.empty()) return wrong();
  return pin;
}

absl::StatusOr<Graph> ImportOnnx(absl::string_view bytes, const std::string& path,
                                 const ImportOptions& options, const Evaluator& evaluate) {
  onnx::ModelProto model;
  KILN_RETURN_IF_ERROR(ParseModel(bytes, path, model));
  if (model.graph().node_size() > kMaxGraphNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", model.graph().node_size(), " nodes, at most ", kMaxGraphNodes));
  }
  return Importer(model, path, options, evaluate).Run();
}

absl::StatusOr<ModelInterface> ReadInterface(absl::string_view bytes, const std::string& path) {
  onnx::ModelProto model;
  KILN_RETURN_IF_ERROR(ParseModel(bytes, path, model));
  std::set<std::string> initialisers;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    initialisers.insert(tensor.name());
  }
  ModelInterface interface;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (!initialisers.contains(input.name())) {
      interface.inputs.push_back(PortOf(input));
    }
  }
  for (const onnx::ValueInfoProto& output : model.graph().output()) {
    interface.outputs.push_back(PortOf(output));
  }
  return interface;
}

}  // namespace kiln::onnx_frontend
