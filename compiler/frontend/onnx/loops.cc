// SPDX-License-Identifier: Apache-2.0
// Loop, unrolled. Its trip count, and its condition after every iteration, must be known.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

absl::Status TooLong() {
  return absl::UnimplementedError(
      absl::StrCat("a loop is written out when the model is compiled: found more than ",
                   kMaxUnrolledSteps, " iterations, wanted at most that"));
}

// True if the loop continues after iteration `i`.
absl::StatusOr<bool> GoesOn(Converter& c, const Item& condition, int64_t i) {
  const std::string what = absl::StrCat("the condition after iteration ", i);
  if (!condition.is_tensor()) return Wrong(what, condition.name(), "a bool");
  KILN_ASSIGN_OR_RETURN(const Tensor value, c.ConstantValue(condition.tensor, what));
  return AsBool(value, what);
}

}  // namespace

absl::StatusOr<ValueId> ScanOutput(Converter& c, const std::vector<ValueId>& values, int64_t axis,
                                   const onnx::ValueInfoProto& declared) {
  if (!values.empty()) {
    const int rank = c.type(values.front()).rank() + 1;
    KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, rank));
    return Stacked(c, values, axis);
  }
  const onnx::TypeProto::Tensor& type = declared.type().tensor_type();
  KILN_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(type.elem_type()));
  Shape shape;
  for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
    shape.push_back(dim.dim_value());
    if (!dim.has_dim_value()) {
      return absl::UnimplementedError(
          absl::StrCat("no iteration, and a body that does not say the shape of its output '",
                       declared.name(), "'"));
    }
  }
  KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, static_cast<int>(shape.size()) + 1));
  shape.insert(shape.begin() + axis, 0);
  TensorType empty{std::move(shape), dtype};
  KILN_RETURN_IF_ERROR(CheckTensorType(empty));
  return c.Constant(Tensor::Filled(std::move(empty), 0));
}

absl::Status Loop(Converter& c) {
  const int carried = std::max(c.num_inputs() - 2, 0);
  KILN_ASSIGN_OR_RETURN(const onnx::GraphProto* body, c.Body("body", 2 + carried, -1));
  const int scanned = body->output_size() - 1 - carried;
  if (scanned < 0 || c.node().output_size() > carried + scanned) {
    return Wrong("body",
                 absl::StrCat(body->output_size(), " outputs for a loop with ", carried,
                              " values that it carries and ", c.node().output_size(), " outputs"),
                 absl::StrCat(1 + std::max(carried, c.node().output_size()), " or more"));
  }
  int64_t trips = -1;  // no limit
  if (c.HasInput(0)) {
    KILN_ASSIGN_OR_RETURN(const Tensor count, c.ConstantInput(0, "the trip count"));
    KILN_ASSIGN_OR_RETURN(trips, AsInt(count, "the trip count"));
    trips = std::max<int64_t>(trips, 0);
  }
  bool goes_on = true;
  if (c.HasInput(1)) {
    KILN_ASSIGN_OR_RETURN(const Tensor condition, c.ConstantInput(1, "the condition"));
    KILN_ASSIGN_OR_RETURN(goes_on, AsBool(condition, "the condition"));
  }
  std::vector<Item> state;
  for (int i = 0; i < carried; ++i) state.push_back(c.InputItem(2 + i));
  std::vector<std::vector<ValueId>> results(static_cast<size_t>(scanned));
  const Item yes = c.Constant(Tensor::Scalar(DType::Bool(), 1));
  for (int64_t i = 0; goes_on && i != trips; ++i) {
    if (i == kMaxUnrolledSteps) return TooLong();
    std::vector<Item> inputs = {c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {i})), yes};
    inputs.insert(inputs.end(), state.begin(), state.end());
    KILN_ASSIGN_OR_RETURN(const std::vector<Item> outputs, c.ImportBody(*body, inputs));
    for (const Item& item : outputs) {
      if (!item.is_unknown()) continue;
      c.SetOutputsUnknown();
      return absl::OkStatus();
    }
    state.assign(outputs.begin() + 1, outputs.begin() + 1 + carried);
    for (size_t k = 0; k < results.size(); ++k) {
      const Item& item = outputs[static_cast<size_t>(1 + carried) + k];
      if (!item.is_tensor()) return Wrong("a scan output", item.name(), "a tensor");
      results[k].push_back(item.tensor);
    }
    // The condition after the last iteration does not matter.
    if (i + 1 == trips) break;
    KILN_ASSIGN_OR_RETURN(goes_on, GoesOn(c, outputs[0], i));
  }
  for (int i = 0; i < carried; ++i) c.SetOutput(i, state[static_cast<size_t>(i)]);
  for (int k = 0; k < scanned; ++k) {
    if (!c.WantsOutput(carried + k)) continue;
    KILN_ASSIGN_OR_RETURN(const ValueId y, ScanOutput(c, results[static_cast<size_t>(k)], 0,
                                                      body->output(1 + carried + k)));
    c.SetOutput(carried + k, y);
  }
  return absl::OkStatus();
}

}  // namespace kiln::onnx_frontend
