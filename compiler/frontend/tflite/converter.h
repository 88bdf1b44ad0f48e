// SPDX-License-Identifier: Apache-2.0
// What the conversion of one TFLite operator works with.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_CONVERTER_H_
#define KILN_COMPILER_FRONTEND_TFLITE_CONVERTER_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/frontend/common/adder.h"
#include "compiler/frontend/common/errors.h"
#include "compiler/frontend/tflite/custom_options.h"
#include "compiler/frontend/tflite/model_file.h"
#include "compiler/frontend/tflite/schema_generated.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {

// One operator, while it is converted: reads its operands and options, adds operators to the graph,
// names the results.
class Converter : public frontend::Adder {
 public:
  // Finds what the operator has kept from the run before, a state of that type.
  using FindState = std::function<absl::StatusOr<ValueId>(const TensorType&)>;

  Converter(const OperatorInfo& op, const Subgraph& subgraph, SourceLocation source,
            std::vector<ValueId> inputs, Graph& graph, FindState find_state)
      : Adder(graph, std::move(source)),
        op_(op),
        subgraph_(subgraph),
        inputs_(std::move(inputs)),
        find_state_(std::move(find_state)) {}

  // The options, or those that an absent table stands for.
  template <typename T>
  const T& Options() const {
    const T* options = op_.raw->builtin_options_as<T>();
    return options == nullptr ? *static_cast<const T*>(EmptyTable()) : *options;
  }
  // The options of a custom operator.
  absl::StatusOr<CustomOptions> ReadCustomOptions() const;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(op_.outputs.size()); }
  // An optional input may be absent.
  bool HasInput(int i) const {
    return i < num_inputs() && inputs_[static_cast<size_t>(i)] != kNoId;
  }
  // InvalidArgument if the input is absent.
  absl::StatusOr<ValueId> Input(int i) const;
  // All inputs, of which none may be absent.
  absl::StatusOr<std::vector<ValueId>> Inputs() const;
  // What the file says of an output, and of an input that is there.
  absl::StatusOr<const TensorInfo*> OutputInfo(int i) const;
  absl::StatusOr<const TensorInfo*> InputInfo(int i) const;
  absl::StatusOr<DType> OutputDType(int i) const;
  bool IsConstant(ValueId value) const { return graph().is_constant(value); }
  // The value of an input that must be known at compile time. Unimplemented if it is not.
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what) const;
  absl::StatusOr<std::vector<int64_t>> IntsInput(int i, absl::string_view what) const;
  absl::StatusOr<int64_t> IntInput(int i, absl::string_view what) const;

  ValueId Ints(const std::vector<int64_t>& values, DType dtype);
  absl::StatusOr<ValueId> Activated(ValueId value, tflite_schema::Activation activation);

  // Says what the operator's output i is.
  void SetOutput(int i, ValueId value);
  // The same of what may be an error, which it returns.
  absl::Status Output(int i, absl::StatusOr<ValueId> value);
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // Says what the variable that is input i holds from now on.
  void SetVariable(int i, ValueId value) { variables_[i] = value; }
  const std::map<int, ValueId>& variables() const { return variables_; }
  // What the operator has kept from the run before, 0 in all elements at first, although the file
  // has no tensor for it; and what it keeps for the next run.
  absl::StatusOr<ValueId> State(const TensorType& type) const { return find_state_(type); }
  void SetState(ValueId value) { state_ = value; }
  ValueId state() const { return state_; }

 private:
  static const void* EmptyTable();

  const OperatorInfo& op_;
  const Subgraph& subgraph_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::map<int, ValueId> variables_;
  ValueId state_ = kNoId;
  FindState find_state_;
};

// How an operator is converted.
using Convert = absl::Status (*)(Converter&);

// What an operator does with quantized tensors.
enum class Quantised {
  kNo,
  kOneScale,      // moves elements or chooses between them: where their scales are one
  kMoves,         // the same whatever the scales are: TFLite Micro's kernels do not look at them
  kComputesInt8,  // has arithmetic of its own for int8
  kComputes8,     // … and for uint8
  kComputes,      // … and for numbers of 16 bits
};

// A row of the table of operators.
struct TfliteOperator {
  tflite_schema::BuiltinOperator code;
  Convert convert;              // null: `relay` with the same inputs
  const char* relay = nullptr;  // with one output
  // Whether tensors may be quantized.
  Quantised quantised = Quantised::kNo;
  const char* custom_name = "";  // of a custom operator
};

// The rows of each family; operators.cc joins them.
absl::Span<const TfliteOperator> ElementwiseOperators();
absl::Span<const TfliteOperator> NeuralOperators();
absl::Span<const TfliteOperator> WindowOperators();
absl::Span<const TfliteOperator> ReductionOperators();
absl::Span<const TfliteOperator> ShapeOperators();
absl::Span<const TfliteOperator> SliceOperators();
absl::Span<const TfliteOperator> IndexOperators();
absl::Span<const TfliteOperator> RecurrentOperators();
absl::Span<const TfliteOperator> SpectrumOperators();
absl::Span<const TfliteOperator> SignalOperators();

// Whether the operator moves complex numbers as it does others; their parts are moved one by one.
bool MovesComplex(tflite_schema::BuiltinOperator code);

// Null if there is none.
const TfliteOperator* FindOperator(const OperatorInfo& op);

using frontend::NormalAxis;
using frontend::Wrong;

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_CONVERTER_H_
