// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/import.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/nearest.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/graph/relay_text.h"
#include "compiler/import/file_kind.h"
#include "compiler/import/open_dimensions.h"
#include "compiler/import/origin.h"
#include "compiler/ops/op_def.h"

namespace kiln {
namespace {

using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;

// Largest model whose open dimensions are searched for sizes. Each attempt takes as long as an
// import.
constexpr size_t kMaxSearchedBytes = size_t{256} << 20;

// Largest number of unknown operators for which similar names are looked up, to bound the work that
// a file can cause.
constexpr size_t kMaxNearest = 50;

absl::Status NoConstants(const std::string& path) {
  return absl::InvalidArgumentError(
      path +
      ": --constant is for ONNX and TFLite models; in Relay text, write full(…) for the input");
}

// Returns the name of the parameter of @main for an input. The printer replaces characters that an
// identifier cannot contain by '_'.
std::string ParameterName(absl::string_view input) {
  std::string name(input);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '/') c = '_';
  }
  return name;
}

// Checks that every pin names an input of the graph and agrees with its type.
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

// Appends to each unknown operator in the error the known operator that was probably meant.
absl::Status WithNearest(const absl::Status& error, const std::vector<std::string>& unknown) {
  if (unknown.size() > kMaxNearest) return error;
  std::vector<std::string> known;
  for (const OpDef* op : AllOps()) known.push_back(op->name);
  std::vector<std::string> lines = absl::StrSplit(error.message(), '\n');
  for (std::string& line : lines) {
    for (const std::string& name : unknown) {
      if (!absl::EndsWith(line, absl::StrCat("'", name, "'"))) continue;
      absl::StrAppend(&line, Perhaps(name, known));
      break;
    }
  }
  return absl::Status(error.code(), absl::StrJoin(lines, "\n"));
}

absl::StatusOr<Graph> ImportRelay(absl::string_view text, const std::string& path,
                                  const std::vector<InputPin>& pins) {
  RelayParseOptions options;
  for (const InputPin& pin : pins) options.input_shapes[ParameterName(pin.name)] = pin.shape;
  std::vector<std::string> unknown;
  const auto find_op = [&unknown](absl::string_view name) {
    const OpSchema* const op = FindOpSchema(name);
    if (op == nullptr) unknown.emplace_back(name);
    return op;
  };
  absl::StatusOr<Graph> parsed = ParseRelay(text, path, find_op, options);
  if (!parsed.ok()) return WithNearest(parsed.status(), unknown);
  Graph graph = *std::move(parsed);
  KILN_RETURN_IF_ERROR(CheckPins(graph, path, pins));
  return graph;
}

// Returns the graph of a file of any format. Sets all findings except origin.import_options.
absl::StatusOr<Graph> ImportAnyFormat(absl::string_view bytes, const std::string& path,
                                      const ImportOptions& options, ImportFindings& findings) {
  OpenModel model{.path = path, .is_searched = bytes.size() <= kMaxSearchedBytes};
  ModelOrigin& origin = findings.origin;
  switch (FormatOf(bytes)) {
    case ModelFormat::kRelay:
      if (!options.constants.empty()) return NoConstants(path);
      if (!options.dims.empty()) {
        return absl::InvalidArgumentError(
            path + ": --dim: dimensions of Relay text have no names; give shapes with --input");
      }
      if (!options.outputs.empty()) {
        return absl::InvalidArgumentError(
            path + ": --outputs: Relay text ends where its function ends; edit the text");
      }
      origin.sha256 = Sha256(bytes);
      return ImportRelay(bytes, path, options.pins);
    case ModelFormat::kTflite: {
      KILN_ASSIGN_OR_RETURN(model.inputs, tflite_frontend::ReadInputs(bytes, path));
      KILN_ASSIGN_OR_RETURN(findings.narrow_weights,
                            tflite_frontend::ReadNarrowWeights(bytes, path));
      KILN_ASSIGN_OR_RETURN(const Properties properties,
                            tflite_frontend::ReadProperties(bytes, path));
      origin.sha256 = Sha256(bytes);
      origin.properties = TextProperties(properties);
      model.import = [&](const ImportOptions& tried) {
        return tflite_frontend::ImportTflite(bytes, path, tried, EvaluateConstants);
      };
      return ImportOpenModel(model, options, findings.notes);
    }
    case ModelFormat::kOnnx: {
      KILN_RETURN_IF_ERROR(Annotate(CheckMayBeModel(bytes), path + ": "));
      KILN_ASSIGN_OR_RETURN(const onnx_frontend::ModelFile file,
                            onnx_frontend::ModelFile::Parse(bytes, path, options.outputs));
      model.inputs = file.interface().inputs;
      model.outputs = file.interface().outputs;
      findings.narrow_weights = file.narrow_weights();
      std::vector<std::string>& notes = findings.notes;
      // Each attempt starts from the notes that existed before the first.
      model.import = [&, before = notes](const ImportOptions& tried) {
        notes = before;
        return file.Import(tried, EvaluateConstants, &notes);
      };
      KILN_ASSIGN_OR_RETURN(Graph graph, ImportOpenModel(model, options, notes));
      origin.sha256 = ModelDigest(bytes, file.external_files());
      origin.properties = TextProperties(file.properties());
      return graph;
    }
  }
  return absl::InternalError("a format that is none of them");
}

}  // namespace

ModelFormat FormatOf(absl::string_view bytes) {
  if (absl::StrContains(bytes.substr(0, 4096), "#[version")) return ModelFormat::kRelay;
  return tflite_frontend::IsTflite(bytes) ? ModelFormat::kTflite : ModelFormat::kOnnx;
}

absl::StatusOr<Graph> ImportModel(absl::string_view bytes, const std::string& path,
                                  const ImportOptions& options, ImportFindings* findings) {
  ImportFindings unread;
  ImportFindings& found = findings == nullptr ? unread : *findings;
  found.origin = {.import_options = ImportOptionsText(options)};
  return ImportAnyFormat(bytes, path, options, found);
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
