// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/load_model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/identifier.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/graph/state.h"
#include "compiler/import/file_kind.h"
#include "compiler/import/import.h"
#include "tools/kiln/files.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

using frontend::InputPin;
using frontend::ModelPort;

// Parses a number as a scalar of an integer type. The result is exact, even if a double could not
// represent it.
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

// Parses a text such as "16000" or "1,3,224,224" as a tensor of the input's type.
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
      // An unknown input is an error of the import, whose message names the known ones.
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
    KILN_ASSIGN_OR_RETURN(InputPin pin, frontend::ParseInputPin(text));
    for (const InputPin& other : pins) {
      if (other.name != pin.name) continue;
      return absl::InvalidArgumentError(absl::StrCat("--input: '", pin.name, "' is given twice"));
    }
    pins.push_back(std::move(pin));
  }
  return pins;
}

absl::StatusOr<std::map<std::string, int64_t>> ParseDims(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    int64_t size = 0;
    if (equals == std::string::npos || equals == 0 ||
        !absl::SimpleAtoi(text.substr(equals + 1), &size) || size < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dim: found '", text, "', wanted a dimension's name and its size: seq=128"));
    }
    const std::string name = text.substr(0, equals);
    if (!dims.emplace(name, size).second) {
      return absl::InvalidArgumentError(absl::StrCat("--dim: '", name, "' is given twice"));
    }
  }
  return dims;
}

// Returns the import options for the command line options `flags`. `bytes` were read from `path`.
absl::StatusOr<frontend::ImportOptions> ImportOptionsOf(const std::string& bytes,
                                                        const std::string& path,
                                                        const InputFlags& flags) {
  frontend::ImportOptions options;
  KILN_ASSIGN_OR_RETURN(options.pins, ParsePins(flags.shapes));
  KILN_ASSIGN_OR_RETURN(options.dims, ParseDims(flags.dims));
  options.outputs = flags.outputs;
  if (flags.constants.empty()) return options;
  KILN_ASSIGN_OR_RETURN(const std::vector<ModelPort> inputs, ReadModelInputs(bytes, path));
  KILN_ASSIGN_OR_RETURN(options.constants, ReadConstants(inputs, flags.constants));
  for (const InputPin& pin : options.pins) {
    if (!options.constants.contains(pin.name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--input and --constant are both given for '", pin.name, "', wanted one"));
  }
  return options;
}

}  // namespace

absl::StatusOr<frontend::ImportOptions> OnnxImportOptions(const std::string& bytes,
                                                          const std::string& path,
                                                          const InputFlags& flags) {
  const ModelFormat format = FormatOf(bytes);
  if (format != ModelFormat::kOnnx) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": found ", format == ModelFormat::kRelay ? "Relay text" : "a TFLite model",
        ", wanted an ONNX model"));
  }
  KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
  return ImportOptionsOf(bytes, path, flags);
}

std::vector<std::string> FilesOf(const InputFlags& flags) {
  std::vector<std::string> files;
  for (const std::string& text : flags.constants) {
    const std::string value = text.substr(text.rfind('=') + 1);
    if (IsFileOfConstant(value)) files.push_back(value);
  }
  return files;
}

absl::StatusOr<Graph> LoadModel(const std::string& file, const InputFlags& flags,
                                ImportFindings* findings) {
  const bool is_standard_input = file == kStandardInput;
  const std::string path = is_standard_input ? "standard input" : file;
  KILN_ASSIGN_OR_RETURN(const std::string bytes, is_standard_input
                                                     ? ReadStandardInput(kMaxModelFileBytes)
                                                     : ReadFile(path, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(const frontend::ImportOptions options, ImportOptionsOf(bytes, path, flags));
  ImportFindings unread;
  if (findings == nullptr) findings = &unread;
  absl::StatusOr<Graph> graph = ImportModel(bytes, path, options, findings);
  for (const std::string& note : findings->notes) {
    std::fprintf(stderr, "kiln: note: %s\n", note.c_str());
  }
  for (const std::string& pair : flags.states) {
    if (graph.ok()) KILN_RETURN_IF_ERROR(DeclareState(pair, *graph));
    absl::StrAppend(&findings->origin.import_options, "state=", pair, "\n");
  }
  return graph;
}

std::string DefaultModuleName(const std::string& path) {
  if (path == kStandardInput) return "model";
  const std::string name = WithIdentifierCharacters(std::filesystem::path(path).stem().string());
  return IsIdentifier(name) ? name : "m_" + name;
}

}  // namespace kiln::tools
