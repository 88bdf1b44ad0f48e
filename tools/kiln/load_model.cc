// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tools/kiln/file_kind.h"
#include "tools/kiln/files.h"
#include "tools/kiln/open_dimensions.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

using frontend::ModelPort;
using onnx_frontend::InputPin;

// Of larger models no shapes are tried: each attempt takes as long as an import.
constexpr size_t kMaxSearchedBytes = size_t{256} << 20;

absl::StatusOr<std::vector<ModelPort>> ReadOnnxInputs(const std::string& bytes,
                                                      const std::string& path) {
  KILN_ASSIGN_OR_RETURN(onnx_frontend::ModelInterface interface,
                        onnx_frontend::ReadInterface(bytes, path));
  return std::move(interface.inputs);
}

bool IsRelayText(absl::string_view bytes) {
  return absl::StrContains(bytes.substr(0, 4096), "#[version");
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

absl::StatusOr<Graph> LoadRelay(const std::string& text, const std::string& path,
                                const std::vector<InputPin>& pins) {
  RelayParseOptions options;
  for (const InputPin& pin : pins) options.input_shapes[ParameterName(pin.name)] = pin.shape;
  KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, path, FindOpSchema, options));
  KILN_RETURN_IF_ERROR(CheckPins(graph, path, pins));
  return graph;
}

// A number as a scalar of an integer type; exact, where a double is not.
absl::StatusOr<Tensor> ParseInteger(DType dtype, absl::string_view word) {
  int64_t value = 0;
  uint64_t large = 0;
  if (dtype == DType::UInt(64) && absl::SimpleAtoi(word, &large)) {
    return Tensor::From<uint64_t>({}, dtype, {large});
  }
  if (!absl::SimpleAtoi(word, &value) || value < dtype.MinInt() || value > dtype.MaxInt()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found '", word, "', wanted a number of ", dtype.ToString()));
  }
  if (dtype == DType::Int(64)) return Tensor::From<int64_t>({}, dtype, {value});
  return Tensor::Scalar(dtype, static_cast<double>(value));
}

// A tensor of the input's type from "16000" or "1,3,224,224".
absl::StatusOr<Tensor> ParseValues(const ModelPort& port, absl::string_view text) {
  if (!port.dtype.has_value()) {
    return absl::InvalidArgumentError("is no tensor of a type that Kiln has");
  }
  std::string bytes;
  int64_t count = 0;
  for (absl::string_view word : absl::StrSplit(text, ',')) {
    double value = 0;
    if (!absl::SimpleAtod(word, &value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found '", text, "', wanted numbers with commas between them, or a file .npy or .pb"));
    }
    Tensor scalar = Tensor::Scalar(*port.dtype, value);
    if (!port.dtype->is_float()) {
      KILN_ASSIGN_OR_RETURN(scalar, ParseInteger(*port.dtype, word));
    }
    bytes += scalar.bytes();
    ++count;
  }
  Shape shape;
  if (port.rank.value_or(count == 1 ? 0 : 1) == 1) shape = {count};
  if (port.rank.value_or(0) > 1 || (shape.empty() && count != 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", count, " numbers for a tensor of rank ", port.rank.value_or(0),
                     ", wanted a file .npy or .pb"));
  }
  return Tensor({std::move(shape), *port.dtype}, std::move(bytes));
}

bool IsFileOfConstant(absl::string_view value) {
  return absl::EndsWith(value, ".npy") || absl::EndsWith(value, ".pb");
}

absl::StatusOr<std::map<std::string, Tensor>> ReadConstants(const std::vector<ModelPort>& inputs,
                                                            const std::vector<std::string>& texts) {
  std::map<std::string, Tensor> constants;
  for (const std::string& text : texts) {
    const size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--constant: found '", text, "', wanted name=VALUE or name=FILE"));
    }
    const std::string name = text.substr(0, at), value = text.substr(at + 1);
    absl::StatusOr<Tensor> tensor;
    if (IsFileOfConstant(value)) {
      tensor = ReadTensorFile(value);
    } else {
      const auto port = std::find_if(inputs.begin(), inputs.end(), [&](const ModelPort& candidate) {
        return candidate.name == name;
      });
      // An input that there is not is an error of the import, which names those that there are.
      tensor = port == inputs.end() ? Tensor() : ParseValues(*port, value);
    }
    if (!tensor.ok()) return Annotate(tensor.status(), absl::StrCat("--constant ", name, ": "));
    if (!constants.emplace(name, *std::move(tensor)).second) {
      return absl::InvalidArgumentError(absl::StrCat("--constant: '", name, "' is given twice"));
    }
  }
  return constants;
}

absl::StatusOr<std::vector<InputPin>> ParsePins(const std::vector<std::string>& texts) {
  std::vector<InputPin> pins;
  for (const std::string& text : texts) {
    KILN_ASSIGN_OR_RETURN(InputPin pin, onnx_frontend::ParseInputPin(text));
    for (const InputPin& other : pins) {
      if (other.name != pin.name) continue;
      return absl::InvalidArgumentError(absl::StrCat("--input: '", pin.name, "' is given twice"));
    }
    pins.push_back(std::move(pin));
  }
  return pins;
}

// What the command line says of the inputs, which the model reads as `read_inputs` does.
template <typename Read>
absl::StatusOr<frontend::ImportOptions> ImportOptionsOf(const InputFlags& flags,
                                                        const Read& read_inputs) {
  frontend::ImportOptions options;
  KILN_ASSIGN_OR_RETURN(options.pins, ParsePins(flags.shapes));
  if (flags.constants.empty()) return options;
  KILN_ASSIGN_OR_RETURN(const std::vector<ModelPort> inputs, read_inputs());
  KILN_ASSIGN_OR_RETURN(options.constants, ReadConstants(inputs, flags.constants));
  for (const InputPin& pin : options.pins) {
    if (!options.constants.contains(pin.name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--input and --constant are both given for '", pin.name, "', wanted one"));
  }
  return options;
}

}  // namespace

absl::StatusOr<onnx_frontend::ImportOptions> OnnxImportOptions(const std::string& bytes,
                                                               const std::string& path,
                                                               const InputFlags& flags) {
  const bool relay = IsRelayText(bytes);
  if (relay || tflite_frontend::IsTflite(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": found ", relay ? "Relay text" : "a TFLite model", ", wanted an ONNX model"));
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
  return ImportOptionsOf(flags, [&] { return ReadOnnxInputs(bytes, path); });
}

std::vector<std::string> FilesOf(const InputFlags& flags) {
  std::vector<std::string> files;
  for (const std::string& text : flags.constants) {
    const std::string value = text.substr(text.rfind('=') + 1);
    if (IsFileOfConstant(value)) files.push_back(value);
  }
  return files;
}

absl::StatusOr<Graph> LoadModel(const std::string& path, const InputFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  if (IsRelayText(bytes)) {
    KILN_ASSIGN_OR_RETURN(const std::vector<InputPin> pins, ParsePins(flags.shapes));
    if (flags.constants.empty()) return LoadRelay(bytes, path, pins);
    return absl::InvalidArgumentError(
        path +
        ": --constant is for ONNX and TFLite models; in Relay text, write full(…) for the "
        "input");
  }
  if (tflite_frontend::IsTflite(bytes)) {
    KILN_ASSIGN_OR_RETURN(const frontend::ImportOptions options, ImportOptionsOf(flags, [&] {
                            return tflite_frontend::ReadInputs(bytes, path);
                          }));
    return ImportOpenModel({.path = path,
                            .read_inputs = [&] { return tflite_frontend::ReadInputs(bytes, path); },
                            .import =
                                [&](const frontend::ImportOptions& tried) {
                                  return tflite_frontend::ImportTflite(bytes, path, tried,
                                                                       EvaluateConstants);
                                },
                            .is_searched = bytes.size() <= kMaxSearchedBytes},
                           options);
  }
  KILN_ASSIGN_OR_RETURN(const onnx_frontend::ImportOptions options,
                        OnnxImportOptions(bytes, path, flags));
  return ImportOpenModel({.path = path,
                          .read_inputs = [&] { return ReadOnnxInputs(bytes, path); },
                          .import =
                              [&](const frontend::ImportOptions& tried) {
                                return onnx_frontend::ImportOnnx(bytes, path, tried,
                                                                 EvaluateConstants);
                              },
                          .is_searched = bytes.size() <= kMaxSearchedBytes},
                         options);
}

std::string DefaultModuleName(const std::string& path) {
  std::string name;
  for (char c : std::filesystem::path(path).stem().string())
    name.push_back(absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_');
  return name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ? "m_" + name
                                                                                  : name;
}

}  // namespace kiln::tools
