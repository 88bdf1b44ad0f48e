// SPDX-License-Identifier: Apache-2.0
// The part of ModelFile that describes the origin of a model.
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/tensor_proto.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

// Collects the locations of tensors with data in other files, in a graph and in its nodes'
// attributes.
class Locations {
 public:
  explicit Locations(std::string folder) : folder_(std::move(folder)) {}

  void Add(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) Add(tensor);
    for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
      Add(tensor.values());
      Add(tensor.indices());
    }
    for (const onnx::NodeProto& node : graph.node()) Add(node);
  }

  void Add(const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t()) Add(attribute.t());
      for (const onnx::TensorProto& tensor : attribute.tensors()) Add(tensor);
      if (attribute.has_g()) Add(attribute.g());
      for (const onnx::GraphProto& graph : attribute.graphs()) Add(graph);
    }
  }

  std::map<std::string, std::string> Take() { return std::move(files_); }

 private:
  void Add(const onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
    const std::string location = ExternalLocation(tensor);
    if (files_.contains(location)) return;
    const absl::StatusOr<std::filesystem::path> file = ExternalFile(location, folder_);
    if (file.ok()) files_[location] = file->string();
  }

  std::string folder_;
  std::map<std::string, std::string> files_;
};

}  // namespace

std::map<std::string, std::string> ModelFile::external_files() const {
  Locations locations(std::filesystem::path(path_).parent_path().string());
  locations.Add(model_->graph());
  for (const onnx::FunctionProto& function : model_->functions()) {
    for (const onnx::NodeProto& node : function.node()) locations.Add(node);
  }
  return locations.Take();
}

std::vector<std::pair<std::string, std::string>> ModelFile::properties() const {
  std::vector<std::pair<std::string, std::string>> properties;
  for (const onnx::StringStringEntryProto& entry : model_->metadata_props()) {
    properties.emplace_back(entry.key(), entry.value());
  }
  return properties;
}

}  // namespace kiln::onnx_frontend
