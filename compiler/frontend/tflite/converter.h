// SPDX-License-Identifier: Apache-2.0
// The interface for the conversion of one TFLite operator.
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

// One operator during its conversion. Reads its operands and options, adds operators to the graph,
// and sets its outputs.
class Converter : public frontend::Adder {
 public:
  // Returns the operator's state of that type from the previous run.
  using FindState = std::function<absl::StatusOr<ValueId>(const TensorType&)>;

  Converter(const OperatorInfo& op, const Subgraph& subgraph, SourceLocation source,
            std::vector<ValueId> inputs, Graph& graph, FindState find_state)
      : Adder(graph, std::move(source)),
        op_(op),
        subgraph_(subgraph),
        inputs_(std::move(inputs)),
        find_state_(std::move(find_state)) {}

  // Returns the options, or the defaults if the table is absent.
  template <typename T>
  const T& Options() const {
    const T* options = op_.raw->builtin_options_as<T>();
    return options == nullptr ? *static_cast<const T*>(EmptyTable()) : *options;
  }
  // Returns the options of a custom operator.
  absl::StatusOr<CustomOptions> ReadCustomOptions() const;

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(op_.outputs.size()); }
  // True if input i is present. An optional input may be absent.
  bool HasInput(int i) const {
    return i < num_inputs() && inputs_[static_cast<size_t>(i)] != kNoId;
  }
  // InvalidArgument if the input is absent.
  absl::StatusOr<ValueId> Input(int i) const;
  // Returns all inputs. None may be absent.
  absl::StatusOr<std::vector<ValueId>> Inputs() const;
  // Return the information in the file about an output, and about an input that is present.
  absl::StatusOr<const TensorInfo*> OutputInfo(int i) const;
  absl::StatusOr<const TensorInfo*> InputInfo(int i) const;
  absl::StatusOr<DType> OutputDType(int i) const;
  bool IsConstant(ValueId value) const { return graph().is_constant(value); }
  // Returns the value of an input that must be known at compile time. Unimplemented if it is not
  // known.
  absl::StatusOr<Tensor> ConstantInput(int i, absl::string_view what) const;
  absl::StatusOr<std::vector<int64_t>> IntsInput(int i, absl::string_view what) const;
  absl::StatusOr<int64_t> IntInput(int i, absl::string_view what) const;

  ValueId Ints(const std::vector<int64_t>& values, DType dtype);
  absl::StatusOr<ValueId> Activated(ValueId value, tflite_schema::Activation activation);

  // Sets output i of the operator.
  void SetOutput(int i, ValueId value);
  // Sets output i, or returns the error of `value`.
  absl::Status Output(int i, absl::StatusOr<ValueId> value);
  const std::vector<ValueId>& outputs() const { return outputs_; }
  // Sets the new value of the variable that is input i.
  void SetVariable(int i, ValueId value) { variables_[i] = value; }
  const std::map<int, ValueId>& variables() const { return variables_; }
  // Reads and writes state that the operator keeps between runs although the file has no tensor for
  // it. It is 0 in all elements at first.
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

// The conversion of an operator.
using Convert = absl::Status (*)(Converter&);

// Support of an operator for quantized tensors.
enum class Quantised {
  kNo,
  kOneScale,      // moves or selects elements; their scales must be equal.
  kMoves,         // moves elements; TFLite Micro's kernels ignore the scales.
  kComputesInt8,  // has its own arithmetic for int8.
  kComputes8,     // has its own arithmetic for int8 and uint8.
  kComputes,      // has its own arithmetic for int8, uint8 and int16.
};

// A row of the table of operators.
struct TfliteOperator {
  tflite_schema::BuiltinOperator code;
  Convert convert;              // null: the operator `relay` with the same inputs
  const char* relay = nullptr;  // must have one output
  // Support for quantized tensors.
  Quantised quantised = Quantised::kNo;
  const char* custom_name = "";  // name of a custom operator
};

// The rows of each family. operators.cc joins them.
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

// True if the operator moves complex numbers like other numbers. Their parts are moved separately.
bool MovesComplex(tflite_schema::BuiltinOperator code);

// Returns null if there is none.
const TfliteOperator* FindOperator(const OperatorInfo& op);

using frontend::NormalAxis;
using frontend::Wrong;

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_CONVERTER_H_
