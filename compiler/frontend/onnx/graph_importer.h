// SPDX-License-Identifier: Apache-2.0
// GraphImporter: adds the nodes of ONNX graphs to one Graph: those of the model, of control flow
// bodies (once per iteration), and of functions (once per call).
//
// A node that cannot be imported is reported (Problems) and its outputs are unknown. The outputs of
// nodes that read them are unknown too. The rest of the model is still examined.
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

  // `model`, read from `path`, `operators` and `evaluate` must outlive the importer.
  GraphImporter(const onnx::ModelProto& model, std::string path, const OperatorTable& operators,
                const Evaluator& evaluate);

  Graph& graph() { return graph_; }
  const OperatorTable& operators() const { return operators_; }
  Problems& problems() { return problems_; }
  // True if the model exceeds a limit. The excess has been reported.
  bool given_up() const { return given_up_; }

  // Defines the initializers of a graph, except those whose names its scope already has.
  void AddInitializers(const onnx::GraphProto& graph, Scope& scope);
  // Adds nodes in a topological order. `nodes` must be part of the model.
  void AddNodes(const Nodes& nodes, Scope& scope);
  // Returns the outputs of a graph whose nodes have been added. InvalidArgument if no node computes
  // one.
  static absl::StatusOr<std::vector<Item>> OutputsOf(const onnx::GraphProto& graph,
                                                     const Scope& scope);
  // Imports a body of `node` inside of `outer` and returns its outputs. Some of them may be
  // unknown.
  absl::StatusOr<std::vector<Item>> ImportBody(const onnx::GraphProto& body, const Scope& outer,
                                               const std::string& node,
                                               const std::vector<Item>& inputs);
  // Reports the unsupported operators of nodes that are not imported.
  void CheckOperators(const Nodes& nodes, const std::string& prefix, int depth);

  // Replaces each of `values` that depends only on constants by a constant, within limits.
  absl::Status Fold(const std::vector<ValueId*>& values) {
    return folder_of_constants_.Fold(values);
  }
  // Like frontend::ConstantFolder::ValueOf.
  absl::StatusOr<std::optional<Tensor>> ValueOf(ValueId value) {
    return folder_of_constants_.ValueOf(value);
  }

  // Returns the value of a tensor of the model. It is decoded once.
  absl::StatusOr<Tensor> Decode(const onnx::TensorProto& proto);

  // An input of the model that the file does not have.
  struct AddedInput {
    std::string name;
    std::string note;  // for the user, if something reads the input
  };
  ValueId AddInput(const TensorType& type, AddedInput input) {
    added_inputs_.push_back(std::move(input));
    return graph_.AddInput(added_inputs_.back().name, type);
  }
  const std::vector<AddedInput>& added_inputs() const { return added_inputs_; }

 private:
  using FunctionName = std::pair<std::string, std::string>;  // domain and name

  void AddNode(const onnx::NodeProto& node, const std::string& name, Scope& scope);
  // Returns the outputs of a node, as many as it has.
  absl::StatusOr<std::vector<Item>> Import(const onnx::NodeProto& node, const std::string& name,
                                           const Scope& scope);
  // Defined in functions.cc.
  absl::StatusOr<std::vector<Item>> ImportFunction(const onnx::FunctionProto& function,
                                                   const onnx::NodeProto& node, const Scope& caller,
                                                   const std::string& name,
                                                   const std::vector<Item>& inputs);
  void CheckBodies(const onnx::NodeProto& node, const std::string& name, int depth);
  // Returns null if the operator is not a function of the model.
  const onnx::FunctionProto* FindFunction(const onnx::NodeProto& node) const;
  static absl::StatusOr<std::vector<Item>> InputsOf(const onnx::NodeProto& node,
                                                    const Scope& scope);
  // Reports that an operator is not supported.
  void AddUnsupported(const onnx::NodeProto& node, const std::string& name,
                      const std::vector<Item>& inputs);
  // Counts `nodes` against the limit for unrolled loops and expanded functions. Nothing more is
  // imported if the limit is exceeded.
  absl::Status Charge(int64_t nodes, int depth);
  // Counts the constants added since the last call. InvalidArgument if their total is too large.
  absl::Status CountConstants();

  const std::string path_, folder_;
  const OperatorTable& operators_;
  Problems problems_;
  Graph graph_;
  std::vector<AddedInput> added_inputs_;
  frontend::ConstantFolder folder_of_constants_;
  std::map<FunctionName, const onnx::FunctionProto*> functions_;
  std::set<const onnx::FunctionProto*> open_functions_;  // being imported or checked
  std::map<const onnx::FunctionProto*, std::vector<onnx::AttributeProto>> default_attributes_;
  std::map<const onnx::TensorProto*, Tensor> decoded_;
  std::map<const onnx::TensorProto*, ValueId> initializers_;
  std::map<const Nodes*, NodeOrder> orders_;
  int64_t unrolled_nodes_ = 0;
  size_t counted_values_ = 0;  // values seen by CountConstants
  int64_t constant_bytes_ = 0;
  bool given_up_ = false;
};

// Adds the operator sets that a model or a function imports to `opsets`, replacing those of the
// same domain. InvalidArgument if a domain is imported in two versions, Unimplemented for a version
// that Kiln does not know.
absl::Status AddOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                       Opsets& opsets);

// Returns the name of the node in messages.
std::string NodeName(const onnx::NodeProto& node, int index);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GRAPH_IMPORTER_H_
