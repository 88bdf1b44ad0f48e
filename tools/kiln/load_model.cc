// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/compile.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tools/kiln/file_kind.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

using onnx_frontend::InputPin;

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

absl::StatusOr<Graph> LoadRelay(const std::string& text, const std::string& path,
                                const std::vector<InputPin>& pins) {
  RelayParseOptions options;
  for (const InputPin& pin : pins) options.input_shapes[ParameterName(pin.name)] = pin.shape;
  KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, path, FindOpSchema, options));
  KILN_RETURN_IF_ERROR(CheckPins(graph, path, pins));
  return graph;
}

}  // namespace

absl::StatusOr<Graph> LoadModel(const std::string& path, const std::vector<std::string>& pins) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  std::vector<InputPin> parsed;
  for (const std::string& pin : pins) {
    KILN_ASSIGN_OR_RETURN(parsed.emplace_back(), onnx_frontend::ParseInputPin(pin));
  }
  if (absl::StrContains(absl::string_view(bytes).substr(0, 4096), "#[version"))
    return LoadRelay(bytes, path, parsed);
  KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
  return onnx_frontend::ImportOnnx(bytes, path, parsed, EvaluateConstants);
}

std::string DefaultModuleName(const std::string& path) {
  std::string name;
  for (char c : std::filesystem::path(path).stem().string())
    name.push_back(absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_');
  return name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ? "m_" + name
                                                                                  : name;
}

}  // namespace kiln::tools
