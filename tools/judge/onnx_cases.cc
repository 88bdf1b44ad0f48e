// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/onnx_cases.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/import/import.h"
#include "tools/judge/runner.h"
#include "tools/kiln/files.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using onnx_frontend::ImportOptions;
using onnx_frontend::ModelInterface;
using onnx_frontend::ModelPort;

constexpr char kModelFile[] = "model.onnx";
constexpr absl::string_view kDataSet = "test_data_set_";

// Returns folders with one data set each, sorted by name.
absl::StatusOr<std::vector<std::string>> FindDataSets(const std::string& folder) {
  std::vector<std::string> sets;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error) && absl::StartsWith(entry.path().filename().string(), kDataSet)) {
      sets.push_back(entry.path().string());
    }
  }
  std::sort(sets.begin(), sets.end());
  if (!sets.empty()) return sets;
  return absl::InvalidArgumentError(absl::StrCat("no folder ", kDataSet, "0 beside ", kModelFile));
}

// Reads input_0.pb, input_1.pb and so on, until a file is missing.
absl::StatusOr<std::vector<Tensor>> ReadTensors(const std::string& set, absl::string_view kind) {
  std::vector<Tensor> tensors;
  for (;;) {
    const std::string path = absl::StrCat(set, "/", kind, "_", tensors.size(), ".pb");
    std::error_code error;
    if (!fs::exists(path, error)) return tensors;
    KILN_ASSIGN_OR_RETURN(tensors.emplace_back(), ReadTensorFile(path));
  }
}

absl::Status CheckPorts(const std::vector<ModelPort>& ports, absl::string_view kind) {
  for (const ModelPort& port : ports) {
    if (port.kind == "tensor") continue;
    return absl::UnimplementedError(
        absl::StrCat(kind, " '", port.name, "' is a ", port.kind, ", not a tensor"));
  }
  return absl::OkStatus();
}

// Imports the model. Inputs whose values the import needs are fixed.
absl::StatusOr<Graph> Import(const std::string& bytes, const std::string& path,
                             const ModelInterface& interface, const std::vector<Tensor>& inputs) {
  ImportOptions options;
  for (size_t i = 0; i < inputs.size(); ++i) {
    options.pins.push_back({interface.inputs[i].name, inputs[i].type().shape, {}});
  }
  for (;;) {
    absl::StatusOr<Graph> graph = ImportModel(bytes, path, options);
    if (graph.ok()) return graph;
    const size_t before = options.constants.size();
    for (const std::string& name : onnx_frontend::InputsToFix(graph.status())) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (interface.inputs[i].name == name) options.constants[name] = inputs[i];
      }
    }
    if (options.constants.size() == before) return graph;
  }
}

// ONNX's own cases store bfloat16 data as uint16. The model declares bfloat16, which Kiln computes
// as float32, so such data cannot be used.
absl::Status CheckNoBFloat16(const std::vector<ModelPort>& ports, const std::vector<Tensor>& data) {
  for (size_t i = 0; i < std::min(ports.size(), data.size()); ++i) {
    if (ports[i].dtype == DType::Float(32) && data[i].type().dtype == DType::UInt(16)) {
      return absl::UnimplementedError(
          absl::StrCat("'", ports[i].name, "': data that are bits of bfloat16"));
    }
  }
  return absl::OkStatus();
}

// Returns the values of all inputs that the compiled model reads. The others are fixed. A case has
// no data for an input that provides random numbers.
absl::StatusOr<std::vector<Tensor>> InputsOf(const Runner& runner, const ModelInterface& interface,
                                             const std::string& set,
                                             const std::vector<Tensor>& data) {
  std::vector<Tensor> inputs;
  for (const Port& input : runner.inputs) {
    const auto port = absl::c_find_if(
        interface.inputs, [&](const ModelPort& other) { return other.name == input.name; });
    if (port == interface.inputs.end()) {
      return absl::UnimplementedError(
          absl::StrCat("'", input.name, "': random numbers, which a case does not have"));
    }
    const auto i = static_cast<size_t>(port - interface.inputs.begin());
    inputs.push_back(i < data.size() ? data[i] : Tensor::Filled(input.type, 0));
    if (inputs.back().type() == input.type) continue;
    return absl::InvalidArgumentError(absl::StrCat(set, ": input ", i, ": found ",
                                                   inputs.back().type().ToString(), ", wanted ",
                                                   input.type.ToString()));
  }
  return inputs;
}

absl::Status CheckDataSet(const std::string& model, const std::string& path,
                          const ModelInterface& interface, const std::string& set,
                          const CaseOptions& options) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadTensors(set, "input"));
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, ReadTensors(set, "output"));
  if (inputs.size() > interface.inputs.size() || outputs.size() != interface.outputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        set, ": found ", inputs.size(), " inputs and ", outputs.size(), " outputs, the model has ",
        interface.inputs.size(), " and ", interface.outputs.size()));
  }
  KILN_RETURN_IF_ERROR(CheckNoBFloat16(interface.inputs, inputs));
  KILN_RETURN_IF_ERROR(CheckNoBFloat16(interface.outputs, outputs));
  KILN_ASSIGN_OR_RETURN(const Graph graph, Import(model, path, interface, inputs));
  KILN_ASSIGN_OR_RETURN(const Runner runner, CompileRunner(graph, options.compile));
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> values, InputsOf(runner, interface, set, inputs));
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> results, runner.RunOnce(values));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& found = results[i];
    const std::string where = absl::StrCat("output '", interface.outputs[i].name, "': ");
    if (found.type() != outputs[i].type()) {
      return absl::FailedPreconditionError(absl::StrCat(where, "found ", found.type().ToString(),
                                                        ", wanted ", outputs[i].type().ToString()));
    }
    KILN_RETURN_IF_ERROR(Annotate(CheckClose(found, outputs[i], options.tolerance), where));
  }
  return absl::OkStatus();
}

absl::Status CheckCase(const OnnxCase& onnx_case, const CaseOptions& options) {
  const std::string path = absl::StrCat(onnx_case.folder, "/", kModelFile);
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(const ModelInterface interface, onnx_frontend::ReadInterface(bytes, path));
  KILN_RETURN_IF_ERROR(CheckPorts(interface.inputs, "input"));
  KILN_RETURN_IF_ERROR(CheckPorts(interface.outputs, "output"));
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> sets, FindDataSets(onnx_case.folder));
  for (const std::string& set : sets) {
    const std::string where = sets.size() == 1 ? "" : fs::path(set).filename().string() + ": ";
    KILN_RETURN_IF_ERROR(Annotate(CheckDataSet(bytes, path, interface, set, options), where));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<OnnxCase>> FindOnnxCases(const std::string& folder) {
  std::vector<OnnxCase> cases;
  std::error_code error;
  const auto add = [&](const fs::path& path) {
    if (!fs::exists(path / kModelFile, error)) return;
    const std::string name = path.lexically_relative(folder).string();
    cases.push_back(
        {name == "." ? fs::weakly_canonical(path).filename().string() : name, path.string()});
  };
  if (!fs::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": no such folder"));
  }
  add(folder);
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (entries->is_directory(error)) add(entries->path());
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat(folder, ": ", error.message()));
  if (cases.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": found no ", kModelFile, " in it or below it"));
  }
  std::sort(cases.begin(), cases.end(),
            [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

CaseResult CheckOnnxCase(const OnnxCase& onnx_case, const CaseOptions& options) {
  const absl::Status status = CheckCase(onnx_case, options);
  if (status.ok()) return {};
  std::string reason(status.message());
  const std::string path = absl::StrCat(onnx_case.folder, "/", kModelFile, ": ");
  if (absl::StartsWith(reason, path)) reason.erase(0, path.size());
  return {absl::IsUnimplemented(status) ? Outcome::kUnsupported : Outcome::kFailed, reason};
}

}  // namespace kiln::tools
