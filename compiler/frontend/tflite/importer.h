// SPDX-License-Identifier: Apache-2.0
// The importer: values of tensors, nested subgraphs, and the state of a model.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_IMPORTER_H_
#define KILN_COMPILER_FRONTEND_TFLITE_IMPORTER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/common/constant_folder.h"
#include "compiler/frontend/common/port_quantization.h"
#include "compiler/frontend/common/unique_names.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_file.h"

namespace kiln::tflite_frontend {

class Importer {
 public:
  // All arguments must outlive the importer.
  Importer(const ModelFile& file, const std::string& path, const ImportOptions& options,
           const Evaluator& evaluate)
      : file_(file), path_(path), options_(options), folder_(graph_, file.num_bytes(), evaluate) {}

  absl::StatusOr<Graph> Run() &&;

 private:
  // A tensor of complex numbers.
  struct ComplexValue {
    ValueId real = kNoId, imaginary = kNoId;
  };
  // The parts of complex operands that an operator gets: both (one after the other), or one of
  // them.
  enum class Parts { kBoth, kReal, kImaginary };
  // One run of a subgraph.
  struct Frame {
    int index;  // index of the subgraph
    const Subgraph& subgraph;
    std::vector<ValueId> values;          // keyed by tensor; kNoId: not computed yet
    std::map<int, ComplexValue> complex;  // complex tensors
    std::map<int, std::string> handles;   // tensors that name resource variables
    int depth = 0;
  };
  // A resource variable or a variable tensor.
  struct Variable {
    std::string name;
    ValueId input = kNoId;          // input of the graph; kNoId: not read before it is written
    ValueId current = kNoId;        // current value; kNoId: the value from before the run
    std::optional<Tensor> initial;  // absent: `fill` in all elements
    double fill = 0;
    std::optional<frontend::PortQuantization> quantization;
    // True if a run of the model may write it.
    bool written = false;
  };
  // The subgraph and the number of a tensor; the subgraph and "state of <first output>" for an
  // operator's own state; or -1 and the name of a resource.
  using VariableKey = std::pair<int, std::string>;

  // support.cc: returns an error for all operators that cannot be imported.
  absl::Status CheckOperators();
  // Returns the subgraphs that the model can reach.
  std::vector<int> ReachableSubgraphs() const;

  // import.cc
  absl::Status CheckOptions() const;
  absl::Status AddInputs(Frame& frame);
  absl::Status AddOutputs(Frame& frame);
  absl::StatusOr<TensorType> InputType(const TensorInfo& info, const std::string& name) const;
  absl::Status AddOperators(Frame& frame);
  // Counts operators against the limit for loops and calls.
  absl::Status CountWork(int64_t operators);
  absl::Status AddOperator(Frame& frame, const OperatorInfo& op);
  absl::Status SetTensor(Frame& frame, int tensor, ValueId value);
  // Returns the value of a tensor: an earlier result, a constant, or a variable.
  absl::StatusOr<ValueId> Resolve(Frame& frame, int tensor);
  Frame MakeFrame(int index, int depth) const;

  // convert.cc
  absl::Status ConvertOperator(Frame& frame, const OperatorInfo& op);
  absl::StatusOr<std::vector<ValueId>> Operands(Frame& frame, const OperatorInfo& op, Parts parts);
  // Returns the results of the operator's converter. For complex numbers, both parts follow each
  // other.
  absl::StatusOr<std::vector<ValueId>> Results(Frame& frame, const OperatorInfo& op, Parts parts);
  absl::Status SetComplex(Frame& frame, int tensor, ComplexValue value);

  // control.cc: IF, WHILE and CALL_ONCE.
  absl::Status If(Frame& frame, const OperatorInfo& op);
  absl::Status While(Frame& frame, const OperatorInfo& op);
  absl::Status CallOnce(Frame& frame, const OperatorInfo& op);
  struct Argument {
    ValueId value = kNoId;
    std::string handle;  // set for a resource
  };
  absl::StatusOr<Argument> ResolveArgument(Frame& frame, int tensor);
  absl::Status SetArgument(Frame& frame, int tensor, const Argument& argument);
  absl::StatusOr<std::vector<Argument>> Call(const Frame& from, int subgraph,
                                             const std::vector<Argument>& arguments);
  absl::StatusOr<bool> Condition(const Argument& argument) const;

  // state.cc
  absl::Status VarHandle(Frame& frame, const OperatorInfo& op);
  absl::Status ReadVariable(Frame& frame, const OperatorInfo& op);
  absl::Status AssignVariable(Frame& frame, const OperatorInfo& op);
  // Finds the resource variables that a run of the model may write.
  void FindWrites();
  absl::StatusOr<std::string> HandleOf(const Frame& frame, const OperatorInfo& op) const;
  absl::StatusOr<ValueId> Read(Variable& variable, const TensorType& type);
  absl::StatusOr<ValueId> Initial(const Variable& variable, const TensorType& type);
  Variable& ResourceVariable(const std::string& name);
  Variable& TensorVariable(const Frame& frame, int tensor);
  absl::StatusOr<ValueId> ReadTensorVariable(const Frame& frame, int tensor);
  // Returns the state of an operator for which the file has no tensor.
  Variable& OperatorState(const Frame& frame, const OperatorInfo& op);
  absl::StatusOr<ValueId> ReadOperatorState(const Frame& frame, const OperatorInfo& op,
                                            const TensorType& type);
  absl::Status AddStateOutputs();

  const ModelFile& file_;
  const std::string& path_;
  const ImportOptions& options_;
  Graph graph_;
  frontend::ConstantFolder folder_;
  frontend::UniqueNames names_;                                           // inputs and outputs
  frontend::PortQuantizations input_quantization_, output_quantization_;  // for the graph's ports
  std::map<VariableKey, Variable> variables_;
  std::set<std::string> written_;  // resources that a run may write
  bool all_written_ = false;       // a run may write any resource
  bool initialising_ = false;      // true inside of CALL_ONCE
  std::map<std::pair<const char*, std::string>, ValueId> constants_;  // keyed by data and type
  int64_t constant_bytes_ = 0;
  int64_t operators_added_ = 0;
};

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_IMPORTER_H_
