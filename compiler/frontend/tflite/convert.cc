// SPDX-License-Identifier: Apache-2.0
// The conversion of one operator with its operands and results. The graph has no complex numbers: a
// complex tensor is two values, and an operator that moves it is converted once per part.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/importer.h"

namespace kiln::tflite_frontend {

using tflite_schema::BuiltinOperator;

bool MovesComplex(BuiltinOperator code) {
  switch (code) {
    case BuiltinOperator::EXPAND_DIMS:
    case BuiltinOperator::GATHER:
    case BuiltinOperator::RESHAPE:
    case BuiltinOperator::REVERSE_V2:
    case BuiltinOperator::SLICE:
    case BuiltinOperator::SPLIT:
    case BuiltinOperator::SQUEEZE:
    case BuiltinOperator::STRIDED_SLICE:
    case BuiltinOperator::TRANSPOSE:
    case BuiltinOperator::UNPACK:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::vector<ValueId>> Importer::Operands(Frame& frame, const OperatorInfo& op,
                                                        Parts parts) {
  std::vector<ValueId> operands;
  for (int input : op.inputs) {
    if (const auto it = frame.complex.find(input); it != frame.complex.end()) {
      if (parts != Parts::kImaginary) operands.push_back(it->second.real);
      if (parts != Parts::kReal) operands.push_back(it->second.imaginary);
    } else if (input == kAbsent) {
      operands.push_back(kNoId);
    } else {
      KILN_ASSIGN_OR_RETURN(operands.emplace_back(), Resolve(frame, input));
    }
  }
  return operands;
}

absl::StatusOr<std::vector<ValueId>> Importer::Results(Frame& frame, const OperatorInfo& op,
                                                       Parts parts) {
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, Operands(frame, op, parts));
  Converter converter(op, frame.subgraph, {.file = path_, .node = op.name}, std::move(inputs),
                      graph_,
                      [&](const TensorType& type) { return ReadOperatorState(frame, op, type); });
  const TfliteOperator& row = *FindOperator(op);
  if (row.convert != nullptr) {
    KILN_RETURN_IF_ERROR(row.convert(converter));
  } else {
    KILN_ASSIGN_OR_RETURN(std::vector<ValueId> values, converter.Inputs());
    KILN_ASSIGN_OR_RETURN(const ValueId y, converter.Op(row.relay, std::move(values)));
    converter.SetOutput(0, y);
  }
  std::vector<ValueId> results = converter.outputs();
  std::vector<ValueId*> made;
  for (ValueId& result : results) made.push_back(&result);
  KILN_RETURN_IF_ERROR(folder_.Fold(made));
  for (const auto& [i, value] : converter.variables()) {
    const int tensor = op.inputs[static_cast<size_t>(i)];
    TensorVariable(frame, tensor).current = value;
  }
  if (converter.state() != kNoId) OperatorState(frame, op).current = converter.state();
  return results;
}

absl::Status Importer::ConvertOperator(Frame& frame, const OperatorInfo& op) {
  const bool moves = MovesComplex(op.code) &&
                     std::any_of(op.inputs.begin(), op.inputs.end(),
                                 [&](int input) { return frame.complex.contains(input); });
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> results,
                        Results(frame, op, moves ? Parts::kReal : Parts::kBoth));
  if (moves) {
    KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> imaginary,
                          Results(frame, op, Parts::kImaginary));
    // Puts both parts of each output next to each other, as for an operator that creates complex
    // numbers.
    std::vector<ValueId> both;
    for (size_t i = 0; i < results.size(); ++i) {
      both.push_back(results[i]);
      both.push_back(imaginary[i]);
    }
    results = std::move(both);
  }
  // Operators that only write a variable or create a handle have no results.
  if (!results.empty() && op.outputs.size() > results.size()) {
    return Wrong("outputs", absl::StrCat(op.outputs.size()),
                 absl::StrCat(results.size(), ", as the operator has"));
  }
  size_t next = 0;
  const auto take = [&] { return next < results.size() ? results[next++] : kNoId; };
  for (int tensor : op.outputs) {
    const TensorInfo& info = frame.subgraph.tensors[static_cast<size_t>(tensor)];
    const ValueId value = take();
    if (info.is_complex()) {
      KILN_RETURN_IF_ERROR(SetComplex(frame, tensor, {value, take()}));
      continue;
    }
    if (value == kNoId) continue;
    const bool is_complex = moves || op.code == BuiltinOperator::RFFT2D;
    KILN_ASSIGN_OR_RETURN(const DType wanted, info.ToDType());
    const DType found = graph_.type(value).dtype;
    if (is_complex || found != wanted) {
      return Wrong(absl::StrCat("output '", info.name, "'"),
                   is_complex ? "complex numbers" : found.ToString(), wanted.ToString());
    }
    KILN_RETURN_IF_ERROR(SetTensor(frame, tensor, value));
  }
  return absl::OkStatus();
}

absl::Status Importer::SetComplex(Frame& frame, int tensor, ComplexValue value) {
  const std::string& name = frame.subgraph.tensors[static_cast<size_t>(tensor)].name;
  if (value.real == kNoId || value.imaginary == kNoId) {
    return Wrong(absl::StrCat("output '", name, "'"), "real numbers", "complex ones");
  }
  if (frame.complex.emplace(tensor, value).second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' is defined twice"));
}

}  // namespace kiln::tflite_frontend
