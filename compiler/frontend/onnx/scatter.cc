// SPDX-License-Identifier: Apache-2.0
// Scatter, sorting and reversal: moving elements to and from positions given by data.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/known_indices.h"
#include "compiler/ops/op_queries.h"

namespace kiln::onnx_frontend {
namespace {

std::string Reduction(const Converter& c) {
  const std::string reduction = c.String("reduction", "none");
  return reduction == "none" ? "update" : reduction;
}

// Also Scatter, its name up to opset 10.
absl::Status ScatterElements(Converter& c) {
  Formula f(c);
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId updates, c.Input(2));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
  KILN_RETURN_IF_ERROR(CheckKnownIndices(c, indices, {c.type(x).shape[static_cast<size_t>(axis)]}));
  return f.Output(0, f("scatter_elements", {x, indices, updates},
                       {{"axis", c.Int("axis", 0)}, {"reduction", Reduction(c)}}));
}

// PyTorch writes an update along an axis other than the first as Transpose, ScatterND, Transpose.
// This moves all data twice. An update along the axis itself needs only one transpose after it,
// which cancels out with the next one. Absent if the data is not transposed.
absl::StatusOr<std::optional<ValueId>> UpdateAlongAxis(Converter& c, ValueId x, ValueId places) {
  const Node* const transpose = ProducerIf(c.graph(), x, "transpose");
  const Shape indices = c.type(places).shape;
  if (transpose == nullptr || indices.size() != 2 || indices[0] != 1) return std::nullopt;
  const ValueId data = transpose->inputs[0];
  const std::vector<int64_t> axes = transpose->attrs.Ints("axes");
  if (axes.empty() || axes[0] == 0) return std::nullopt;
  if (std::any_of(axes.begin(), axes.end(), [](int64_t axis) { return axis < 0; })) {
    return std::nullopt;
  }
  std::vector<int64_t> back(axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    back[static_cast<size_t>(axes[d])] = static_cast<int64_t>(d);
  }
  KILN_ASSIGN_OR_RETURN(ValueId updates, c.Input(2));
  if (c.type(updates).rank() != static_cast<int>(axes.size())) return std::nullopt;
  KILN_ASSIGN_OR_RETURN(updates, c.Transpose(updates, back));
  KILN_ASSIGN_OR_RETURN(const ValueId updated, c.Op("scatter_nd", {data, places, updates},
                                                    {{"mode", Reduction(c)}, {"axis", axes[0]}}));
  KILN_ASSIGN_OR_RETURN(const ValueId result, c.Transpose(updated, axes));
  return result;
}

absl::Status ScatterNd(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(const ValueId places, IndicesOfPlaces(c, shape));
  KILN_ASSIGN_OR_RETURN(const std::optional<ValueId> along_axis, UpdateAlongAxis(c, x, places));
  if (along_axis.has_value()) return c.Output(0, Item(*along_axis));
  KILN_ASSIGN_OR_RETURN(const ValueId updates, c.Input(2));
  return c.Output(0, c.Op("scatter_nd", {x, places, updates}, {{"mode", Reduction(c)}}));
}

absl::Status TopK(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (!c.HasInput(1) && !c.HasAttr("k")) return Wrong("K", "none", "one");
  int64_t k = c.Int("k", 0);
  if (c.HasInput(1)) {
    KILN_ASSIGN_OR_RETURN(const Tensor given, c.ConstantInput(1, "K"));
    if (given.type().num_elements() != 1) return Wrong("K", given.type().ToString(), "one number");
    k = given.AsInt(0);
  }
  if (k < 0) return Wrong("K", absl::StrCat(k), "a number that is not negative");
  if (k == 0) {
    // With k = 0, Relay's topk would take all elements.
    KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), c.type(x).rank()));
    TensorType none = c.type(x);
    none.shape[static_cast<size_t>(axis)] = 0;
    c.SetOutput(0, c.Constant(Tensor::Filled(none, 0)));
    c.SetOutput(1, c.Constant(Tensor::Filled({none.shape, DType::Int(64)}, 0)));
    return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> y,
                        c.TupleOp("topk", {x},
                                  {{"k", k},
                                   {"axis", c.Int("axis", -1)},
                                   {"is_ascend", c.Int("largest", 1) == 0},
                                   {"dtype", "int64"}}));
  c.SetOutput(0, y[0]);
  c.SetOutput(1, y[1]);
  return absl::OkStatus();
}

absl::Status ReverseSequence(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0), lengths = f.Input(1);
  return f.Output(0,
                  f("reverse_sequence", {x, lengths},
                    {{"seq_axis", c.Int("time_axis", 0)}, {"batch_axis", c.Int("batch_axis", 1)}}));
}

absl::Status Einsum(Converter& c) {
  std::vector<ValueId> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    inputs.push_back(input);
  }
  Formula f(c);
  return f.Output(0, f("einsum", inputs, {{"equation", c.String("equation", "")}}));
}

constexpr OnnxOperator kScatterRows[] = {
    {"Einsum", Einsum},           {"ReverseSequence", ReverseSequence},
    {"Scatter", ScatterElements}, {"ScatterElements", ScatterElements},
    {"ScatterND", ScatterNd},     {"TopK", TopK},
};

}  // namespace

absl::Span<const OnnxOperator> ScatterOperators() { return kScatterRows; }

}  // namespace kiln::onnx_frontend
