// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/describe_quantization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/dtype.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

using List = std::vector<AttrValue>;

// The quantization attributes of the inputs, or those of the outputs.
class TensorAttrs {
 public:
  TensorAttrs(const Attrs& attrs, std::string what, std::vector<proto::Parameter*> tensors)
      : attrs_(attrs), what_(std::move(what)), tensors_(std::move(tensors)) {}

  absl::Status Describe() {
    KILN_ASSIGN_OR_RETURN(const List scales, Read("scales"));
    KILN_ASSIGN_OR_RETURN(const List zero_points, Read("zero_points"));
    KILN_ASSIGN_OR_RETURN(const List axes, Read("axes"));
    for (size_t i = 0; i < tensors_.size(); ++i) {
      proto::Quantization quantization;
      if (!scales.empty()) KILN_RETURN_IF_ERROR(AddScales(scales[i], quantization));
      KILN_RETURN_IF_ERROR(
          AddZeroPoints(zero_points.empty() ? AttrValue() : zero_points[i], quantization));
      if (!axes.empty()) {
        const auto* axis = std::get_if<int64_t>(&axes[i].value);
        if (axis == nullptr) return Error("axes", "an element that is no integer");
        const int64_t rank = tensors_[i]->shape_size();
        // The axis of a single scale has no meaning and is 0.
        if (*axis < 0 || *axis >= std::max<int64_t>(1, rank)) {
          return Error("axes",
                       absl::StrCat("axis ", *axis, " of a tensor with ", rank, " dimensions"));
        }
        quantization.set_axis(static_cast<int32_t>(*axis));
      }
      proto::Parameter& tensor = *tensors_[i];
      KILN_RETURN_IF_ERROR(CheckFits(tensor, quantization));
      if (quantization.scales_size() > 0) *tensor.mutable_quantization() = std::move(quantization);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const std::string& attr, const std::string& found) const {
    return absl::InvalidArgumentError(
        absl::StrCat("@main: attribute '", what_, "_", attr, "': found ", found));
  }

  // Reads a list with one element per tensor; empty if the attribute is absent.
  absl::StatusOr<List> Read(const std::string& attr) const {
    const AttrValue& value = attrs_.Get(absl::StrCat(what_, "_", attr));
    if (value.is_none()) return List();
    if (!value.is_list()) return Error(attr, absl::StrCat(value.ToString(), ", wanted a list"));
    const List& list = std::get<List>(value.value);
    if (list.size() == tensors_.size()) return list;
    return Error(attr, absl::StrCat(list.size(), " elements, wanted one for each of the ",
                                    tensors_.size(), " ", what_, "s"));
  }

  absl::Status AddScales(const AttrValue& value, proto::Quantization& quantization) const {
    if (!value.is_list()) return Error("scales", value.ToString() + ", wanted a list of scales");
    for (const AttrValue& element : std::get<List>(value.value)) {
      const auto* real = std::get_if<double>(&element.value);
      const float scale = real == nullptr ? 0 : static_cast<float>(*real);
      if (!(scale > 0) || !std::isfinite(scale)) {
        return Error("scales", element.ToString() + ", wanted a positive number");
      }
      quantization.add_scales(scale);
    }
    return absl::OkStatus();
  }

  absl::Status AddZeroPoints(const AttrValue& value, proto::Quantization& quantization) const {
    if (value.is_none()) {
      for (int i = 0; i < quantization.scales_size(); ++i) quantization.add_zero_points(0);
      return absl::OkStatus();
    }
    if (!value.is_list()) {
      return Error("zero_points", value.ToString() + ", wanted a list of integers");
    }
    for (const AttrValue& element : std::get<List>(value.value)) {
      const auto* zero = std::get_if<int64_t>(&element.value);
      if (zero == nullptr || *zero < std::numeric_limits<int32_t>::min() ||
          *zero > std::numeric_limits<int32_t>::max()) {
        return Error("zero_points", element.ToString() + ", wanted an integer of 32 bits");
      }
      quantization.add_zero_points(static_cast<int32_t>(*zero));
    }
    return absl::OkStatus();
  }

  absl::Status CheckFits(const proto::Parameter& tensor, const proto::Quantization& q) const {
    if (q.scales_size() != q.zero_points_size()) {
      return Error("zero_points", absl::StrCat(q.zero_points_size(), " zero points, wanted ",
                                               q.scales_size(), ", as many as scales"));
    }
    if (q.scales_size() == 0) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const DType dtype, DType::Parse(tensor.dtype()));
    if (!dtype.is_integral()) {
      return Error("scales", absl::StrCat("scales for a tensor of ", tensor.dtype(),
                                          ", wanted them for integers"));
    }
    // Zero points have 32 bits.
    const int64_t most = dtype.bits < 32 ? dtype.MaxInt() : std::numeric_limits<int32_t>::max();
    for (const int64_t zero : q.zero_points()) {
      if (zero >= dtype.MinInt() && zero <= most) continue;
      return Error("zero_points", absl::StrCat(zero, ", which is no value of ", tensor.dtype()));
    }
    if (q.scales_size() == 1) return absl::OkStatus();
    const int64_t extent = q.axis() < tensor.shape_size() ? tensor.shape(q.axis()) : -1;
    if (extent == q.scales_size()) return absl::OkStatus();
    return Error("scales", absl::StrCat(q.scales_size(), " scales along axis ", q.axis(), " of '",
                                        tensor.relay_name_hint(), "' (",
                                        absl::StrJoin(tensor.shape(), ", "), ")"));
  }

  const Attrs& attrs_;
  const std::string what_;
  const std::vector<proto::Parameter*> tensors_;  // in the order of the graph
};

absl::Status CheckSame(const proto::Parameter& state, const proto::Quantization& next) {
  if (state.quantization().SerializeAsString() == next.SerializeAsString()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("state: found scales {", state.quantization().ShortDebugString(),
                   "} of the input '", state.relay_name_hint(), "' and {", next.ShortDebugString(),
                   "} of its output, wanted the same: a run passes the integers as they are"));
}

}  // namespace

absl::Status DescribeQuantization(const Attrs& attrs, const Plan& plan, proto::Metadata& metadata) {
  proto::Function& main = *metadata.mutable_functions(0);
  std::vector<proto::Parameter*> inputs(plan.inputs.size() + plan.states.size()),
      outputs(plan.outputs.size() + plan.states.size());
  const auto at = [&](std::vector<proto::Parameter*>& tensors, int buffer) -> proto::Parameter*& {
    return tensors[static_cast<size_t>(plan.buffers[static_cast<size_t>(buffer)].io_index)];
  };
  int next = 0;
  for (const int buffer : plan.inputs) at(inputs, buffer) = main.mutable_parameters(next++);
  for (const int buffer : plan.outputs) at(outputs, buffer) = main.mutable_parameters(next++);
  // A state is described twice, as an input and as an output. The two must agree.
  std::vector<proto::Parameter> next_states(plan.states.size());
  for (size_t i = 0; i < plan.states.size(); ++i) {
    proto::Parameter* const tensor = metadata.mutable_states(static_cast<int>(i))->mutable_tensor();
    next_states[i] = *tensor;
    at(inputs, plan.states[i].input) = tensor;
    at(outputs, plan.states[i].output) = &next_states[i];
  }
  KILN_RETURN_IF_ERROR(TensorAttrs(attrs, "input", inputs).Describe());
  KILN_RETURN_IF_ERROR(TensorAttrs(attrs, "output", outputs).Describe());
  for (size_t i = 0; i < next_states.size(); ++i) {
    KILN_RETURN_IF_ERROR(
        CheckSame(metadata.states(static_cast<int>(i)).tensor(), next_states[i].quantization()));
  }
  return absl::OkStatus();
}

}  // namespace kiln
