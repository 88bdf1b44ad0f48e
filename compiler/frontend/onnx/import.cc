// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/import.h"

#include <algorithm>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/port_quantization.h"
#include "compiler/frontend/common/unique_names.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/end_at.h"
#include "compiler/frontend/onnx/graph_importer.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/model_inputs.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "compiler/frontend/onnx/tensor_proto.h"
#include "compiler/graph/rewrite.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace kiln::onnx_frontend {
namespace {

// Newest version of the file format ("IR"), which ONNX numbers independently. ONNX 1.21, whose
// operators Kiln knows, has 13. Exporters write the newest version that they know. Each version
// since 4 has only added optional fields, and types that are refused where they occur. The next
// three versions are therefore accepted as well.
constexpr int64_t kMaxIrVersion = 16;

absl::Status CheckIrVersion(const onnx::ModelProto& model) {
  if (!model.has_ir_version()) return absl::OkStatus();
  if (model.ir_version() >= 1 && model.ir_version() <= kMaxIrVersion) return absl::OkStatus();
  return Wrong("ir_version", absl::StrCat(model.ir_version()),
               absl::StrCat("1 to ", kMaxIrVersion, ", versions of ONNX's file format"));
}

absl::StatusOr<Opsets> OpsetsOf(const onnx::ModelProto& model) {
  Opsets opsets;
  KILN_RETURN_IF_ERROR(AddOpsets(model.opset_import(), opsets));
  if (opsets.contains("")) return opsets;
  // A model that uses only operators of other domains does not import ONNX's own.
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (!NormalDomain(node.domain()).empty()) continue;
    return Wrong(
        "opset_import",
        opsets.empty() ? "nothing" : absl::StrCat("the domain ", opsets.begin()->first, " only"),
        absl::StrCat("a version of ai.onnx too, which the operator ", node.op_type(), " is of"));
  }
  return opsets;
}

// Returns the text of a declared shape if it contradicts `found`, otherwise "". A declared
// dimension that has no value or a symbol agrees with any extent.
std::string ContradictedShape(const onnx::TypeProto::Tensor& declared, const Shape& found) {
  if (!declared.has_shape()) return "";
  const auto& dims = declared.shape().dim();
  bool agrees = dims.size() == static_cast<int>(found.size());
  std::vector<std::string> extents;
  for (int i = 0; i < dims.size(); ++i) {
    const bool known = dims[i].dim_value() > 0;
    extents.push_back(known ? absl::StrCat(dims[i].dim_value()) : "?");
    agrees = agrees && (!known || dims[i].dim_value() == found[static_cast<size_t>(i)]);
  }
  if (agrees) return "";
  return absl::StrCat("(", absl::StrJoin(extents, ", "), dims.size() == 1 ? ",)" : ")");
}

// Adds the model's outputs that are tensors, and reports others. The shape of an output follows
// from the operators and the shapes of the inputs. `notes` gets a line if the file declares another
// one.
void AddOutputs(const onnx::GraphProto& graph, const Scope& scope, GraphImporter& importer,
                std::vector<std::string>& notes) {
  // One tensor may be several outputs, with the same name in the file.
  std::vector<std::string> in_file;
  for (const onnx::ValueInfoProto& output : graph.output()) in_file.push_back(output.name());
  const std::vector<std::string> names = frontend::UniqueNames::MakeAll(in_file);
  absl::StatusOr<std::vector<Item>> outputs = GraphImporter::OutputsOf(graph, scope);
  if (!outputs.ok()) return importer.problems().Add(outputs.status());
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string& name = graph.output(static_cast<int>(i)).name();
    const Item& item = (*outputs)[i];
    if (item.is_unknown()) continue;
    if (!item.is_tensor()) {
      importer.problems().Add(absl::UnimplementedError(
          absl::StrCat("output '", name, "' is ", item.name(), ", not a tensor")));
      continue;
    }
    const DType found = importer.graph().type(item.tensor).dtype;
    const absl::StatusOr<DType> wanted =
        DTypeOf(graph.output(static_cast<int>(i)).type().tensor_type().elem_type());
    if (wanted.ok() && found != *wanted) {
      importer.problems().Add(
          Annotate(Wrong("the dtype", found.ToString(), wanted->ToString() + " as it is declared"),
                   absl::StrCat("output '", name, "': ")));
      continue;
    }
    const onnx::TypeProto::Tensor& type = graph.output(static_cast<int>(i)).type().tensor_type();
    const absl::Status dimensions = CheckDimensions(type.shape());
    if (!dimensions.ok()) {
      importer.problems().Add(Annotate(dimensions, absl::StrCat("output '", name, "': ")));
      continue;
    }
    const Shape& shape = importer.graph().type(item.tensor).shape;
    const std::string declared = ContradictedShape(type, shape);
    if (!declared.empty()) {
      notes.push_back(absl::StrCat("output '", name, "' has the shape ", ShapeToString(shape),
                                   "; the file declares ", declared));
    }
    importer.graph().outputs.push_back(item.tensor);
    importer.graph().output_names.push_back(names[i]);
  }
}

// Returns the note about nodes that normalize by the statistics of the batch, as in training. Empty
// if there are none.
std::string NoteOfTraining(const onnx::GraphProto& graph) {
  std::string first;
  int others = -1;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (node.op_type() != "BatchNormalization" || !NormalDomain(node.domain()).empty()) continue;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() != "training_mode" || attribute.i() == 0) continue;
      if (++others == 0) first = NodeName(node, i);
    }
  }
  if (others < 0) return "";
  return absl::StrCat("node '", first, "' (BatchNormalization)",
                      others > 0 ? absl::StrCat(" and ", others, " more: ") : ": ",
                      "training_mode = 1: normalizes by the mean and variance of each batch; in "
                      "PyTorch, call module.eval() before the export");
}

// Removes the input if no node reads it and it is not an output. Returns true if it was removed.
bool RemoveUnreadInput(const std::string& name, Graph& graph) {
  const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](ValueId id) { return graph.value(id).name == name; });
  const auto reads = [&](const std::vector<ValueId>& values) {
    return std::find(values.begin(), values.end(), *input) != values.end();
  };
  if (reads(graph.outputs) || std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                          [&](const Node& node) { return reads(node.inputs); })) {
    return false;
  }
  graph.inputs.erase(input);
  return true;
}

}  // namespace

absl::StatusOr<ModelFile> ModelFile::Parse(absl::string_view bytes, const std::string& path,
                                           const std::vector<std::string>& outputs) {
  const auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(static_cast<int>(kMaxModelFileBytes - 1));
  if (model->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage() && model->has_graph()) {
    if (!outputs.empty()) {
      KILN_RETURN_IF_ERROR(Annotate(EndAt(outputs, *model->mutable_graph()), path + ": "));
    }
    return ModelFile(model, path);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": found no Relay text, no TFLite model and no whole ONNX model; the file may be cut off"));
}

ModelInterface ModelFile::interface() const { return InterfaceOf(model_->graph()); }

absl::StatusOr<Graph> ModelFile::Import(const ImportOptions& options, const Evaluator& evaluate,
                                        std::vector<std::string>* notes) const {
  const onnx::ModelProto& model = *model_;
  const onnx::GraphProto& graph = model.graph();
  const std::string where = path_ + ": ";
  if (graph.node_size() > kMaxGraphNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, graph.node_size(), " nodes, at most ", kMaxGraphNodes));
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckIrVersion(model), where));
  absl::StatusOr<Opsets> opsets = OpsetsOf(model);
  if (!opsets.ok()) return Annotate(opsets.status(), where);
  KILN_RETURN_IF_ERROR(Annotate(CheckOptions(graph, options), where));
  GraphImporter importer(model, path_, Operators(), evaluate);
  Problems& problems = importer.problems();
  Scope scope(*std::move(opsets), "", {}, 0);
  importer.AddInitializers(graph, scope);
  std::set<std::string> names;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!input.name().empty() && !names.insert(input.name()).second) {
      problems.Add(
          absl::InvalidArgumentError(absl::StrCat("input '", input.name(), "' is defined twice")));
      continue;
    }
    if (scope.Has(input.name())) continue;  // older models list initializers
    Item item = Item::Unknown();
    const absl::StatusOr<TensorType> type = InputType(input, options);
    if (input.name().empty()) {
      problems.Add(absl::InvalidArgumentError("an input has no name"));
    } else if (!type.ok()) {
      problems.Add(type.status());
    } else if (const auto fixed = options.constants.find(input.name());
               fixed != options.constants.end()) {
      item = importer.graph().AddConstant(fixed->second, input.name());
    } else {
      item = importer.graph().AddInput(input.name(), *type);
    }
    const int data_type = input.type().tensor_type().elem_type();
    if (FindStorageType(data_type) != nullptr) item.stored_as = data_type;
    scope.Define(input.name(), std::move(item));
  }
  importer.AddNodes(graph.node(), scope);
  std::vector<std::string> contradictions;
  if (!problems.full() && !importer.given_up()) {
    AddOutputs(graph, scope, importer, contradictions);
  }
  KILN_RETURN_IF_ERROR(problems.Status());
  if (importer.graph().outputs.empty()) {
    return absl::InvalidArgumentError(where + "the model has no outputs");
  }
  for (const std::string& text : contradictions) {
    if (notes != nullptr) notes->push_back(where + text);
  }
  const std::string training = NoteOfTraining(graph);
  if (notes != nullptr && !training.empty()) notes->push_back(where + training);
  Graph imported = RemoveDeadNodes(importer.graph());
  for (const GraphImporter::AddedInput& input : importer.added_inputs()) {
    if (RemoveUnreadInput(input.name, imported)) continue;
    if (notes != nullptr) notes->push_back(where + input.note);
  }
  frontend::SetPortQuantizationFromOperators(imported);
  return imported;
}

absl::StatusOr<Graph> ImportOnnx(absl::string_view bytes, const std::string& path,
                                 const ImportOptions& options, const Evaluator& evaluate) {
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path, options.outputs));
  return file.Import(options, evaluate);
}

absl::StatusOr<ModelInterface> ReadInterface(absl::string_view bytes, const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path));
  return file.interface();
}

}  // namespace kiln::onnx_frontend
