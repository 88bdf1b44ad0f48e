// SPDX-License-Identifier: Apache-2.0
// Checks that all operators are supported, before anything is converted.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/importer.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::BuiltinOperator;

bool IsControl(BuiltinOperator code) {
  return code == BuiltinOperator::IF || code == BuiltinOperator::WHILE ||
         code == BuiltinOperator::CALL_ONCE;
}

// True for operators that move values of any type.
bool IsState(BuiltinOperator code) {
  return code == BuiltinOperator::VAR_HANDLE || code == BuiltinOperator::READ_VARIABLE ||
         code == BuiltinOperator::ASSIGN_VARIABLE;
}

bool KnowsComplex(BuiltinOperator code) {
  return MovesComplex(code) || code == BuiltinOperator::RFFT2D || code == BuiltinOperator::REAL ||
         code == BuiltinOperator::IMAG || code == BuiltinOperator::COMPLEX_ABS;
}

// Returns the subgraphs that an operator calls.
std::vector<int> CalledBy(const OperatorInfo& op) {
  if (const auto* options = op.raw->builtin_options_as_IfOptions(); options != nullptr) {
    return {options->then_subgraph_index(), options->else_subgraph_index()};
  }
  if (const auto* options = op.raw->builtin_options_as_WhileOptions(); options != nullptr) {
    return {options->cond_subgraph_index(), options->body_subgraph_index()};
  }
  if (const auto* options = op.raw->builtin_options_as_CallOnceOptions(); options != nullptr) {
    return {options->init_subgraph_index()};
  }
  return {};
}

std::vector<const TensorInfo*> Operands(const Subgraph& subgraph, const OperatorInfo& op) {
  std::vector<const TensorInfo*> operands;
  for (const std::vector<int>* list : {&op.inputs, &op.outputs}) {
    for (int tensor : *list) {
      if (tensor != kAbsent) operands.push_back(&subgraph.tensors[static_cast<size_t>(tensor)]);
    }
  }
  return operands;
}

// True if the scales count as equal, as in TFLite Micro's pools: they may differ by rounding.
bool AreOne(const Quantization& a, const Quantization& b) {
  const float difference = std::abs(a.scales[0] - b.scales[0]);
  return difference <= 1e-6F && difference <= a.scales[0] * 1e-3F && a.zero_points == b.zero_points;
}

// True if all quantized operands have the same scale and zero point.
bool HaveOneQuantization(const std::vector<const TensorInfo*>& operands) {
  std::optional<Quantization> first;
  for (const TensorInfo* operand : operands) {
    if (!operand->IsQuantized()) continue;
    const absl::StatusOr<std::optional<Quantization>> q = operand->ToQuantization();
    if (!q.ok() || !q->has_value() || (*q)->per_channel()) return false;
    if (first.has_value() && !AreOne(*first, **q)) return false;
    first = **q;
  }
  return true;
}

// Returns the reason why the operator is not supported, or "".
std::string WhyNot(const Subgraph& subgraph, const OperatorInfo& op) {
  if (IsControl(op.code) || IsState(op.code)) return "";
  const TfliteOperator* row = FindOperator(op);
  if (row == nullptr) return "is not supported";
  const std::vector<const TensorInfo*> operands = Operands(subgraph, op);
  if (!KnowsComplex(op.code) && std::any_of(operands.begin(), operands.end(),
                                            [](const TensorInfo* t) { return t->is_complex(); })) {
    return "is not supported on complex numbers";
  }
  const bool quantized = std::any_of(operands.begin(), operands.end(),
                                     [](const TensorInfo* t) { return t->IsQuantized(); });
  if (!quantized) return "";
  // A constant is converted to floats.
  if (op.code == BuiltinOperator::DEQUANTIZE && !operands[0]->data.empty()) return "";
  if (row->quantised == Quantised::kNo) return "is not supported on quantized tensors";
  if (row->quantised == Quantised::kComputes || row->quantised == Quantised::kMoves) return "";
  if (row->quantised == Quantised::kComputes8 || row->quantised == Quantised::kComputesInt8) {
    const absl::StatusOr<DType> dtype = operands[0]->ToDType();
    if (!operands[0]->IsQuantized() || !dtype.ok()) return "";
    if (dtype->bits > 8) return "is not supported on quantized tensors of more than 8 bits";
    const bool fits = row->quantised == Quantised::kComputes8 || !dtype->is_uint();
    return fits ? "" : "is not supported on quantized tensors of uint8";
  }
  if (HaveOneQuantization(operands)) return "";
  return "is not supported on quantized tensors whose scales or zero points differ";
}

}  // namespace

std::vector<int> Importer::ReachableSubgraphs() const {
  std::vector<int> reachable = {0};
  std::vector<bool> seen(file_.subgraphs().size(), false);
  seen[0] = true;
  for (size_t next = 0; next < reachable.size(); ++next) {
    for (const OperatorInfo& op :
         file_.subgraphs()[static_cast<size_t>(reachable[next])].operators) {
      for (int called : CalledBy(op)) {
        if (called < 0 || static_cast<size_t>(called) >= seen.size()) continue;
        if (seen[static_cast<size_t>(called)]) continue;
        seen[static_cast<size_t>(called)] = true;
        reachable.push_back(called);
      }
    }
  }
  return reachable;
}

absl::Status Importer::CheckOperators() {
  std::map<std::string, std::string> lines;  // first line for each operator and reason
  for (int index : ReachableSubgraphs()) {
    const Subgraph& subgraph = file_.subgraphs()[static_cast<size_t>(index)];
    for (const OperatorInfo& op : subgraph.operators) {
      const std::string why = WhyNot(subgraph, op);
      if (why.empty()) continue;
      const std::string what = absl::StrCat("operator ", op.code_name, " ", why);
      if (lines.contains(what)) continue;
      lines[what] = absl::StrCat(
          what, " (node '", op.name, "', inputs ",
          absl::StrJoin(op.inputs, ", ",
                        [&](std::string* out, int tensor) {
                          absl::StrAppend(
                              out, tensor == kAbsent
                                       ? "none"
                                       : subgraph.tensors[static_cast<size_t>(tensor)].TypeText());
                        }),
          ")");
    }
  }
  if (lines.empty()) return absl::OkStatus();
  std::vector<std::string> text;
  for (const auto& [what, line] : lines) text.push_back(absl::StrCat(path_, ": ", line));
  return absl::UnimplementedError(absl::StrJoin(text, "\n"));
}

}  // namespace kiln::tflite_frontend
