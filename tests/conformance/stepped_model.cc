// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/stepped_model.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "compiler/graph/graph.h"
#include "compiler/target/target.h"
#include "tools/kiln/c_compiler.h"
#include "tools/kiln/files.h"

namespace kiln::conformance {
namespace {

using runtime::NDArray;

TensorType TypeOf(const runtime::TensorInfo& info) {
  DTypeKind kind = DTypeKind::kUInt;
  if (info.dtype.code == kDLFloat) kind = DTypeKind::kFloat;
  if (info.dtype.code == kDLInt) kind = DTypeKind::kInt;
  if (info.dtype.bits == 1) kind = DTypeKind::kBool;
  return {info.shape, {kind, info.dtype.bits}};
}

// Returns the initial values of the model's states, by the names of their inputs.
std::map<std::string, double> InitialState(const Graph& graph) {
  std::map<std::string, double> state;
  if (!graph.attrs.Has("state_inputs")) return state;
  const auto& names = std::get<std::vector<AttrValue>>(graph.attrs.Get("state_inputs").value);
  const std::vector<double> values = graph.attrs.Floats("state_initial");
  for (size_t i = 0; i < names.size(); ++i) {
    state[std::get<std::string>(names[i].value)] = values[i];
  }
  return state;
}

absl::StatusOr<runtime::Model> LoadGraph(Graph graph, Codegen codegen, const std::string& target) {
  CompileOptions options;
  options.module_name = "conformance";
  options.codegen = codegen;
  KILN_ASSIGN_OR_RETURN(options.target, Target::Parse(target));
  options.calling_convention =
      DefaultCallingConvention(options.runtime, options.interface, options.externals);
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
  KILN_RETURN_IF_ERROR(tools::LinkParts(options, compiled));
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  KILN_RETURN_IF_ERROR(
      tools::WriteFiles(folder.path(), {{"conformance.so", compiled.artifacts["conformance.so"]}}));
  return runtime::Model::Load(folder.path() + "/conformance.so");
}

}  // namespace

const char* UsualTarget(Codegen codegen) {
  return codegen == Codegen::kC ? "host -vector-bits=0" : "host";
}

absl::StatusOr<SteppedModel> SteppedModel::Compile(const std::string& file,
                                                   const tools::InputFlags& flags, Codegen codegen,
                                                   const std::string& target) {
  KILN_ASSIGN_OR_RETURN(Graph graph, tools::LoadModel(file, flags));
  std::map<std::string, double> state = InitialState(graph);
  KILN_ASSIGN_OR_RETURN(runtime::Model loaded, LoadGraph(std::move(graph), codegen, target));
  SteppedModel model(std::move(loaded));
  model.initial_state_ = std::move(state);
  for (const runtime::TensorInfo& info : model.model_.inputs()) {
    if (!model.initial_state_.contains(info.name)) model.inputs_.push_back(TypeOf(info));
  }
  for (const runtime::TensorInfo& info : model.model_.outputs()) {
    model.output_names_.push_back(info.name);
    model.outputs_.push_back(TypeOf(info));
  }
  return model;
}

absl::StatusOr<std::vector<Tensor>> SteppedModel::Run(absl::Span<const Tensor> inputs,
                                                      State& state) const {
  if (inputs.size() != inputs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", inputs.size(), " inputs, wanted ", inputs_.size()));
  }
  std::vector<NDArray> arrays;
  size_t next = 0;
  for (const runtime::TensorInfo& info : model_.inputs()) {
    const TensorType type = TypeOf(info);
    Tensor value;
    if (const auto initial = initial_state_.find(info.name); initial != initial_state_.end()) {
      const auto kept = state.find(info.name);
      value = kept != state.end() ? kept->second : Tensor::Filled(type, initial->second);
    } else {
      value = inputs[next++];
    }
    if (value.type() != type) {
      return absl::InvalidArgumentError(absl::StrCat("input '", info.name, "': found ",
                                                     value.type().ToString(), ", wanted ",
                                                     type.ToString()));
    }
    KILN_ASSIGN_OR_RETURN(arrays.emplace_back(), NDArray::Empty(info.shape, info.dtype));
    KILN_RETURN_IF_ERROR(arrays.back().CopyFromBytes(value.bytes()));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<NDArray> found, model_.Run(arrays));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < found.size(); ++i) {
    outputs.emplace_back(outputs_[i], std::string(static_cast<const char*>(found[i].data()),
                                                  static_cast<size_t>(outputs_[i].num_bytes())));
    for (const auto& [name, initial] : initial_state_) {
      if (output_names_[i] == name + ".next") state[name] = outputs.back();
    }
  }
  return outputs;
}

absl::StatusOr<Tensor> Step(const Tensor& steps, int64_t step, const TensorType& type, double scale,
                            double offset) {
  const int64_t n = type.num_elements();
  if ((step + 1) * n > steps.type().num_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", steps.type().ToString(), ", wanted steps of ", type.ToString()));
  }
  if (scale == 1 && offset == 0 && steps.type().dtype == type.dtype) {
    const size_t bytes = static_cast<size_t>(type.num_bytes());
    return Tensor(type, steps.bytes().substr(static_cast<size_t>(step) * bytes, bytes));
  }
  std::string bytes;
  for (int64_t i = 0; i < n; ++i) {
    const double value = steps.AsDouble(step * n + i) * scale + offset;
    bytes += Tensor::Scalar(type.dtype, value).bytes();
  }
  return Tensor(type, std::move(bytes));
}

int64_t NumSteps(const Tensor& steps, const TensorType& type) {
  return steps.type().num_elements() / std::max<int64_t>(type.num_elements(), 1);
}

}  // namespace kiln::conformance
