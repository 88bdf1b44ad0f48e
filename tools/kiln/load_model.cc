// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

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

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

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

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return absl::InvalidArgumentError(absl::StrCat(path, ": no such file"));
  if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a ", fs::is_directory(status) ? "folder" : "special file",
                     ", wanted a file"));
  }
  const uintmax_t size = fs::file_size(path, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  if (size == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": the file is empty"));
  if (size > static_cast<uintmax_t>(max_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", size, " bytes, at most ", max_bytes, " are read"));
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file || !file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  return bytes;
}

absl::StatusOr<Graph> LoadModel(const std::string& path, const std::vector<std::string>& pins) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  std::vector<InputPin> parsed;
  for (const std::string& pin : pins) {
    KILN_ASSIGN_OR_RETURN(parsed.emplace_back(), onnx_frontend::ParseInputPin(pin));
  }
  if (absl::StrContains(absl::string_view(bytes).substr(0, 4096), "#[version"))
    return LoadRelay(bytes, path, parsed);
  return onnx_frontend::ImportOnnx(bytes, path, parsed, EvaluateConstants);
}

absl::Status WriteFiles(const std::string& folder,
                        const std::map<std::string, std::string>& files) {
  std::error_code error;
  const bool existed = fs::exists(folder, error);
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, ": the output folder cannot be made",
                                                   error ? ": " + error.message() : std::string()));
  }
  std::vector<fs::path> temporary;
  absl::Status status;
  for (const auto& [name, bytes] : files) {
    const fs::path path = fs::path(folder) / (name + ".tmp");
    temporary.push_back(path);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
      status = absl::InvalidArgumentError(absl::StrCat(
          (fs::path(folder) / name).string(), ": cannot be written: ", std::strerror(errno)));
      break;
    }
  }
  for (const fs::path& path : temporary) {
    if (status.ok()) {
      fs::path final_path = path;
      final_path.replace_extension();
      fs::rename(path, final_path, error);
      if (!error) continue;
      status = absl::InvalidArgumentError(
          absl::StrCat(final_path.string(), ": cannot be written: ", error.message()));
    }
    fs::remove(path, error);
  }
  if (!status.ok() && !existed) fs::remove(folder, error);  // only if it is empty
  return status;
}

}  // namespace kiln::tools
