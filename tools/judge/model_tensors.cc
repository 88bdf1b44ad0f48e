// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/model_tensors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/pipeline/externals.h"
#include "tools/judge/runner.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

// Returns the input with this name. If the models have different names of inputs, returns the one
// with the index `at`.
const NamedTensor* FindInput(const std::vector<NamedTensor>& inputs, const std::string& name,
                             size_t at) {
  const auto it = std::find_if(inputs.begin(), inputs.end(),
                               [&](const NamedTensor& input) { return input.name == name; });
  if (it != inputs.end()) return &*it;
  return at < inputs.size() ? &inputs[at] : nullptr;
}

Tensor QuantizedTensor(const Tensor& tensor, const TensorScale& scale, DType dtype) {
  std::string bytes;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const double value =
        std::nearbyint(tensor.AsDouble(i) / scale.scale) + static_cast<double>(scale.zero_point);
    const double clamped =
        std::clamp(value, static_cast<double>(dtype.MinInt()), static_cast<double>(dtype.MaxInt()));
    bytes += Tensor::Scalar(dtype, clamped).bytes();
  }
  return Tensor({tensor.type().shape, dtype}, std::move(bytes));
}

// Returns the input as the model requires it. Its type may still differ.
Tensor Converted(const NamedTensor& input, const std::optional<TensorScale>& scale, DType dtype) {
  if (input.tensor.type().dtype == dtype) return input.tensor;
  Tensor real = input.tensor;
  if (input.scale.has_value()) real = Dequantize(real, *input.scale);
  if (scale.has_value() && !dtype.is_float()) return QuantizedTensor(real, *scale, dtype);
  if (!dtype.is_float() || !real.type().dtype.is_float()) return input.tensor;
  std::string bytes;
  for (int64_t i = 0; i < real.type().num_elements(); ++i) {
    bytes += Tensor::Scalar(dtype, real.AsDouble(i)).bytes();
  }
  return Tensor({real.type().shape, dtype}, std::move(bytes));
}

}  // namespace

absl::StatusOr<ModelSource> ModelSource::Read(const std::string& path, const InputFlags& flags) {
  ModelSource source;
  source.path_ = path;
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(source.graph_, LoadModel(path, flags));
  KILN_ASSIGN_OR_RETURN(source.scales_, ScalesOf(source.graph_, bytes, path));
  return source;
}

absl::StatusOr<std::vector<NamedValue>> ModelSource::Kept(const CompileOptions& options) const {
  const std::vector<Target> targets = EffectiveTargets(options);
  KILN_ASSIGN_OR_RETURN(const Graph fused,
                        RunPasses(graph_, PassContextOf(options, targets.front()), options.passes));
  return KeptValues(graph_, fused);
}

std::string ModelSource::RealName(const NamedValue& value) const {
  const auto scale = scales_.find(value.name);
  return scale == scales_.end() ? "" : scale->second.real_name;
}

NamedTensor ModelSource::DescribeInput(const std::string& name, Tensor tensor) const {
  const auto scale = scales_.find(name);
  const bool quantised = scale != scales_.end() && !tensor.type().dtype.is_float();
  return {.name = name,
          .tensor = std::move(tensor),
          .scale = quantised ? std::optional(scale->second) : std::nullopt};
}

NamedTensor ModelSource::Describe(const NamedValue& value, Tensor tensor) const {
  NamedTensor described = DescribeInput(value.name, std::move(tensor));
  described.layer = value.layer;
  return described;
}

absl::StatusOr<std::vector<Tensor>> ModelSource::InOrder(
    const std::vector<NamedTensor>& inputs) const {
  std::vector<Tensor> ordered;
  for (const ValueId id : graph_.inputs) {
    const std::string& name = graph_.value(id).name;
    const TensorType& type = graph_.type(id);
    const NamedTensor* const input = FindInput(inputs, name, ordered.size());
    if (input == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": nothing is there for the input '",
                                                     name, "', wanted ", type.ToString()));
    }
    const auto scale = scales_.find(name);
    const Tensor& tensor = ordered.emplace_back(Converted(
        *input, scale == scales_.end() ? std::nullopt : std::optional(scale->second), type.dtype));
    if (tensor.type() != type) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": input '", name, "': found ",
                                                     tensor.type().ToString(), ", wanted ",
                                                     type.ToString()));
    }
  }
  return ordered;
}

absl::StatusOr<std::vector<NamedTensor>> ModelSource::Run(
    const std::vector<NamedValue>& values, const CompileOptions& options,
    const std::vector<NamedTensor>& inputs) const {
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> ordered, InOrder(inputs));
  const Graph graph = WithOutputs(graph_, values);
  KILN_ASSIGN_OR_RETURN(const Runner runner, CompileRunner(graph, options));
  if (runner.inputs.size() != ordered.size()) {
    return absl::UnimplementedError(absl::StrCat(
        "on a board a model that keeps its state is called with ", runner.inputs.size(), " of its ",
        ordered.size(), " inputs; leave --state out, so that the state is an input"));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, runner.RunOnce(ordered));
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    tensors.push_back(Describe(values[i], std::move(outputs[i])));
  }
  return tensors;
}

}  // namespace kiln::tools
