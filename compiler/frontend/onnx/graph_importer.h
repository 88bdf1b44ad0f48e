// SPDX-License-Identifier: Apache-2.0
// GraphImporter: adds the nodes of ONNX graphs to one Graph: those of the model, of the bodies of
// its control flow as often as they run, and of its functions where they are called.
//
// A node that cannot be imported is told (Problems), and its outputs are unknown; so are those of
// nodes that read them, and the rest of the model is gone through all the same.
#ifndef KILN_COMPILER_FRONTEND_ONNX_GRAPH_IMPORTER_H_
#define KILN_COMPILER_FRONTEND_ONNX_GRAPH_IMPORTER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/common/constant_folder.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/item.h"
#include "compiler/frontend/onnx/node_order.h"
#include "compiler/frontend/onnx/problems.h"
#include "compiler/frontend/onnx/scope.h"
#include "compiler/graph/graph.h"
#include "google/protobuf/repeated_field.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

class GraphImporter {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  // `model`, read from `path`, `operators` and `evaluate` must outlive it.
  GraphImporter(const onnx::ModelProto& model, std::string path, const OperatorTable& operators,
                const Evaluator& evaluate);

  Graph& graph() { return graph_; }
  const OperatorTable& operators() const { return operators_; }
  Problems& problems() { return problems_; }
  // Whether a bound on what the model becomes is exceeded: what is told says so.
  bool given_up() const { return given_up_; }

  // Defines the initializers of a graph, unless its scope has them already.
  void AddInitializers(const onnx::GraphProto& graph, Scope& scope);
  // In an order in which they can be; `nodes` must be part of the model.
  void AddNodes(const Nodes& nodes, Scope& scope);
  // The outputs of a graph whose nodes have been added. InvalidArgument if no node makes one.
  static absl::StatusOr<std::vector<Item>> OutputsOf(const onnx::GraphProto& graph,
                                                     const Scope& scope);
  // Imports a body of `node` inside of `outer`, and returns its outputs, of which some may be
  // unknown.
  absl::StatusOr<std::vector<Item>> ImportBody(const onnx::GraphProto& body, const Scope& outer,
                                               const std::string& node,
                                               const std::vector<Item>& inputs);
  // Tells which operators of nodes that are not imported are not supported.
  void CheckOperators(const Nodes& nodes, const std::string& prefix, int depth);

  // Makes constants of those of `values` that depend on constants alone, within bounds.
  absl::Status Fold(const std::vector<ValueId*>& values) {
    return folder_of_constants_.Fold(values);
  }
  // As frontend::ConstantFolder.
  absl::StatusOr<std::optional<Tensor>> ValueOf(ValueId value) {
    return folder_of_constants_.ValueOf(value);
  }

  // The value of a tensor of the model; decoded once.
  absl::StatusOr<Tensor> Decode(const onnx::TensorProto& proto);

  // An input of the model that is none of the file's.
  struct AddedInput {
    std::string name;
    std::string note;  // to the user, if something reads it
  };
  ValueId AddInput(const TensorType& type, AddedInput input) {
    added_inputs_.push_back(std::move(input));
    return graph_.AddInput(added_inputs_.back().name, type);
  }
  const std::vector<AddedInput>& added_inputs() const { return added_inputs_; }

 private:
  using FunctionName = std::pair<std::string, std::string>;  // domain, name

  void AddNode(const onnx::NodeProto& node, const std::string& name, Scope& scope);
  // What the node's outputs are, as many as it has.
  absl::StatusOr<std::vector<Item>> Import(const onnx::NodeProto& node, const std::string& name,
                                           const Scope& scope);
  // functions.cc
  absl::StatusOr<std::vector<Item>> ImportFunction(const onnx::FunctionProto& function,
                                                   const onnx::NodeProto& node, const Scope& caller,
                                                   const std::string& name,
                                                   const std::vector<Item>& inputs);
  void CheckBodies(const onnx::NodeProto& node, const std::string& name, int depth);
  // Null if the operator is no function of the model.
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  static absl::StatusOr<std::vector<Item>> InputsOf(const onnx::NodeProto& node,
                                                    const Scope& scope);
  // Tells that an operator is not supported.
  void AddUnsupported(const onnx::NodeProto& node, const std::string& name,
                      const std::vector<Item>& inputs);
  // Takes `nodes` of what loops and functions may be written out to; nothing more is imported where
  // that is exceeded.
  absl::Status Charge(int64_t nodes, int depth);
  // Counts the constants that came since the last call. InvalidArgument if all are too many.
  absl::Status CountConstants();

  const std::string path_, folder_;
  const OperatorTable& operators_;
  Problems problems_;
  Graph graph_;
  std::vector<AddedInput> added_inputs_;
  frontend::ConstantFolder folder_of_constants_;
  std::map<FunctionName, const onnx::FunctionProto*> functions_;
  std::set<const onnx::FunctionProto*> open_functions_;  // that are being imported or checked
  std::map<const onnx::FunctionProto*, std::vector<onnx::AttributeProto>> default_attributes_;
  std::map<const onnx::TensorProto*, Tensor> decoded_;
  std::map<const onnx::TensorProto*, ValueId> initializers_;
  std::map<const Nodes*, NodeOrder> orders_;
  int64_t unrolled_nodes_ = 0;
  size_t counted_values_ = 0;  // that CountConstants has seen
  int64_t constant_bytes_ = 0;
  bool given_up_ = false;
};

// Adds the operator sets that a model or a function imports to `opsets`, in place of those of the same domain.
// InvalidArgument if a domain is imported in two versions, Unimplemented for a version that Kiln does not know.
absl::Status AddOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                       Opsets& opsets);

// What messages call the node.
std::string NodeName(const onnx::NodeProto& node, int index);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GRAPH_IMPORTER_H_
