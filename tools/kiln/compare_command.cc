// SPDX-License-Identifier: Apache-2.0
// kiln compare
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/judge/comparison.h"
#include "tools/judge/model_tensors.h"
#include "tools/judge/reference.h"
#include "tools/kiln/board_model.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/library.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

// Limit for quantized numbers compared with real ones, where the rounding errors of layers
// accumulate.
constexpr double kLeastCosine = 0.99;

struct CompareFlags {
  ModelFlags model;
  ReferenceFlags reference;
  std::vector<std::string> values;
  ErrorTolerance tolerance;
  std::string format = "table";
  std::optional<std::string> html;
  bool all = false;
};

absl::Status CheckCompareFlags(const CompareFlags& flags) {
  if (flags.format != "table" && flags.format != "json") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: found '", flags.format, "', wanted table or json"));
  }
  if (!flags.html.has_value()) return absl::OkStatus();
  return CheckIsNoFolder("--html", *flags.html);
}

// Returns one tensor per input, from a file or random with a fixed seed.
absl::StatusOr<std::vector<NamedTensor>> ReadComparedInputs(const ModelSource& model,
                                                            const CompareFlags& flags) {
  KILN_ASSIGN_OR_RETURN(auto files, Assignments("--values", flags.values));
  std::vector<NamedTensor> inputs;
  for (const ValueId id : model.graph().inputs) {
    const std::string& name = model.graph().value(id).name;
    const auto file = files.find(name);
    const std::string path = file != files.end()
                                 ? file->second
                                 : FileOf(flags.reference.against, name).value_or("random");
    Tensor tensor = RandomTensor(model.graph().type(id),
                                 kFirstInputSeed + static_cast<uint32_t>(inputs.size()));
    if (path != "random") {
      KILN_ASSIGN_OR_RETURN(tensor, ReadTensorFile(path));
    }
    inputs.push_back(model.DescribeInput(name, std::move(tensor)));
    if (file != files.end()) files.erase(file);
  }
  if (files.empty()) return inputs;
  return absl::InvalidArgumentError(absl::StrCat("--values: found '", files.begin()->first,
                                                 "', which is no input of ", model.path()));
}

// Returns the tensors to compare. If the reference is a folder, these are the tensors with a file
// in it.
absl::StatusOr<std::vector<NamedValue>> ValuesToCompare(const ModelSource& model,
                                                        const CompileOptions& options,
                                                        const CompareFlags& flags) {
  std::vector<NamedValue> values = NamedValues(model.graph());
  const std::string& against = flags.reference.against;
  if (IsFolder(against)) {
    const std::string example = values.empty() ? "output" : values.back().name;
    std::erase_if(
        values, [&](const NamedValue& value) { return !FileOf(against, value.name).has_value(); });
    if (!values.empty()) return values;
    return absl::InvalidArgumentError(
        absl::StrCat("--against: found no file of a tensor of ", model.path(), " in ", against,
                     ", wanted one such as ", TensorFileName(example), ".npy"));
  }
  if (flags.all) return values;
  return model.Kept(options);
}

// True if one side has quantized numbers and the other real ones.
bool IsMixed(const std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& reference) {
  const auto quantised = [](const std::vector<NamedTensor>& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const NamedTensor& tensor) { return tensor.scale.has_value(); });
  };
  return quantised(tensors) != quantised(reference);
}

absl::StatusOr<TensorComparison> CompareModel(const CompareFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const CompileOptions options, OptionsToRun(flags.model, "compared"));
  KILN_ASSIGN_OR_RETURN(const ModelSource model,
                        ModelSource::Read(flags.model.model, flags.model.inputs));
  KILN_ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, ReadComparedInputs(model, flags));
  KILN_ASSIGN_OR_RETURN(const std::vector<NamedValue> values,
                        ValuesToCompare(model, options, flags));
  const Progress progress(
      absl::StrCat("comparing ", values.size(), " tensors of ", flags.model.model));
  KILN_ASSIGN_OR_RETURN(const std::vector<NamedTensor> tensors, model.Run(values, options, inputs));
  KILN_ASSIGN_OR_RETURN(const ReferenceTensors reference,
                        ReadReference(flags.reference, flags.model, values, tensors, inputs));
  ErrorTolerance tolerance = flags.tolerance;
  if (!tolerance.cosine.has_value() && IsMixed(tensors, reference.tensors)) {
    tolerance.cosine = kLeastCosine;
  }
  TensorComparison comparison = CompareTensors(tensors, reference.tensors, tolerance);
  comparison.model = flags.model.model;
  comparison.reference = reference.name;
  if (!comparison.tensors.empty()) return comparison;
  return absl::InvalidArgumentError(
      absl::StrCat("--against: found no tensor in ", reference.name, " that ", flags.model.model,
                   " has too, by its name; wanted one of ", tensors.size(), ", such as '",
                   tensors.empty() ? "" : tensors.back().name, "'"));
}

absl::Status CompareAndPrint(const CompareFlags& flags) {
  KILN_RETURN_IF_ERROR(CheckCompareFlags(flags));
  KILN_ASSIGN_OR_RETURN(const TensorComparison comparison, CompareModel(flags));
  if (flags.html.has_value()) {
    std::vector<std::string> read = FilesOf(flags.model.inputs);
    read.push_back(flags.model.model);
    if (!IsFolder(flags.reference.against)) read.push_back(flags.reference.against);
    KILN_RETURN_IF_ERROR(
        Apply({.files = {{*flags.html, ComparisonPage(comparison)}}, .inputs = read}));
  }
  KILN_RETURN_IF_ERROR(flags.format == "table" ? Print(ComparisonText(comparison))
                                               : PrintJson(ComparisonJson(comparison)));
  const ComparedTensor* const first = comparison.first_off();
  if (first == nullptr) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(FlushStandardOutput());
  return absl::AbortedError(absl::StrCat(
      "the first tensor that is off is '", first->name, "'",
      first->layer.empty() ? "" : absl::StrCat(", of the layer '", first->layer, "'")));
}

void AddToleranceOptions(CLI::App& command, ErrorTolerance& tolerance) {
  command
      .add_option("--rtol", tolerance.relative,
                  "Off is a difference above this share of the tensor's largest value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--atol", tolerance.absolute, "And above this besides")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--quanta", tolerance.quanta,
                  "Off is a quantized tensor with a difference of more steps than this")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--cosine", tolerance.cosine,
                  "Instead: off is a tensor with a cosine similarity below this; 0.99 where "
                  "quantized numbers are compared with real ones")
      ->check(CLI::Range(-1.0, 1.0));
}

}  // namespace

void AddCompareCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare every tensor of a model with a reference, layer by layer");
  auto flags = std::make_shared<CompareFlags>();
  AddModelOptions(*command, flags->model);
  AddReferenceOptions(*command, flags->reference);
  command->add_option("--values", flags->values,
                      "Value of an input: name=FILE (.npy or ONNX .pb) [random by a fixed seed]");
  command->add_flag("--all", flags->all,
                    "Every tensor that the model names, not only those that the compiled code "
                    "keeps in memory: fused operators are taken apart");
  AddToleranceOptions(*command, flags->tolerance);
  command->add_option("--format", flags->format, "What is printed: table or json")
      ->capture_default_str();
  command->add_flag_callback("--json", [flags] { flags->format = "json"; }, "As --format json");
  command->add_option("--html", flags->html, "File for a page that shows the comparison");
  SetGroups(*command, {{"Reference", {"--against", "--against-options", "--python"}},
                       {"Tensors", {"--values", "--all"}},
                       {"Tolerance", {"--rtol", "--atol", "--quanta", "--cosine"}},
                       {"Output", {"--format", "--json", "--html"}}});
  command->footer(
      "The exit status is 1 if a tensor is off.\n"
      "Examples:\n"
      "  kiln compare model.onnx --against onnxruntime --values image=image.npy\n"
      "  kiln compare int8.onnx --against float.onnx --html compare.html\n"
      "  kiln compare model.onnx --against tensors/\n"
      "  kiln compare model.onnx --against board:cortex-m4f\n"
      "  kiln compare model.onnx --against-options=\"--no-winograd --target x86-64-v2\"");
  command->callback([flags, &action] { action = [flags] { return CompareAndPrint(*flags); }; });
}

}  // namespace kiln::tools
