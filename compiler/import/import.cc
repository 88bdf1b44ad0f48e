// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/import.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/graph/relay_text.h"
#include "compiler/import/file_kind.h"
#include "compiler/import/open_dimensions.h"
#include "compiler/ops/op_def.h"

namespace kiln {
namespace {

using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;

// Of larger models no shapes are tried: each attempt takes as long as an import.
constexpr size_t kMaxSearchedBytes = size_t{256} << 20;

absl::Status NoConstants(const std::string& path) {
  return absl::InvalidArgumentError(
      path +
      ": --constant is for ONNX and TFLite models; in Relay text, write full(…) for the input");
}

// The name of the parameter of @main that stands for an input: the printer writes '_' for what an
// identifier cannot hold.
std::string ParameterName(absl::string_view input) {
  std::string name(input);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '/') c = '_';
  }
  return name;
}

// Every pin names an input of the graph and agrees with its type.
absl::Status CheckPins(const Graph& graph, const std::string& path,
                       const std::vector<InputPin>& pins) {
  for (const InputPin& pin : pins) {
    const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
      const std::string& name = graph.value(id).name;
      return name == pin.name || ParameterName(name) == pin.name;
    });
    if (input == graph.inputs.end()) {
      const std::string names = absl::StrJoin(
          graph.inputs, ", ",
          [&](std::string* out, ValueId id) { absl::StrAppend(out, graph.value(id).name); });
      return absl::InvalidArgumentError(absl::StrCat(path, ": --input: the model has no input '",
                                                     pin.name, "'; its inputs are ", names));
    }
    const TensorType& type = graph.type(*input);
    if (type.shape != pin.shape || (pin.dtype.has_value() && type.dtype != *pin.dtype)) {
      const TensorType found{pin.shape, pin.dtype.value_or(type.dtype)};
      return absl::InvalidArgumentError(absl::StrCat(path, ": --input: found ", found.ToString(),
                                                     " for the input '", pin.name, "', wanted ",
                                                     type.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> ImportRelay(absl::string_view text, const std::string& path,
                                  const std::vector<InputPin>& pins) {
  RelayParseOptions options;
  for (const InputPin& pin : pins) options.input_shapes[ParameterName(pin.name)] = pin.shape;
  KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, path, FindOpSchema, options));
  KILN_RETURN_IF_ERROR(CheckPins(graph, path, pins));
  return graph;
}

}  // namespace

ModelFormat FormatOf(absl::string_view bytes) {
  if (absl::StrContains(bytes.substr(0, 4096), "#[version")) return ModelFormat::kRelay;
  return tflite_frontend::IsTflite(bytes) ? ModelFormat::kTflite : ModelFormat::kOnnx;
}

absl::StatusOr<Graph> ImportModel(absl::string_view bytes, const std::string& path,
                                  const ImportOptions& options, std::string* note) {
  OpenModel model{.path = path, .is_searched = bytes.size() <= kMaxSearchedBytes};
  switch (FormatOf(bytes)) {
    case ModelFormat::kRelay:
      if (!options.constants.empty()) return NoConstants(path);
      return ImportRelay(bytes, path, options.pins);
    case ModelFormat::kTflite: {
      KILN_ASSIGN_OR_RETURN(model.inputs, tflite_frontend::ReadInputs(bytes, path));
      model.import = [&](const ImportOptions& tried) {
        return tflite_frontend::ImportTflite(bytes, path, tried, EvaluateConstants);
      };
      return ImportOpenModel(model, options, note);
    }
    case ModelFormat::kOnnx: {
      KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
      KILN_ASSIGN_OR_RETURN(const onnx_frontend::ModelFile file,
                            onnx_frontend::ModelFile::Parse(bytes, path));
      model.inputs = file.interface().inputs;
      model.import = [&](const ImportOptions& tried) {
        return file.Import(tried, EvaluateConstants);
      };
      return ImportOpenModel(model, options, note);
    }
  }
  return absl::InternalError("a format that is none of them");
}

absl::StatusOr<std::vector<ModelPort>> ReadModelInputs(absl::string_view bytes,
                                                       const std::string& path) {
  switch (FormatOf(bytes)) {
    case ModelFormat::kRelay:
      return NoConstants(path);
    case ModelFormat::kTflite:
      return tflite_frontend::ReadInputs(bytes, path);
    case ModelFormat::kOnnx: {
      KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
      KILN_ASSIGN_OR_RETURN(onnx_frontend::ModelInterface interface,
                            onnx_frontend::ReadInterface(bytes, path));
      return std::move(interface.inputs);
    }
  }
  return absl::InternalError("a format that is none of them");
}

}  // namespace kiln
