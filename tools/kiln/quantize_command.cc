// SPDX-License-Identifier: Apache-2.0
// kiln quantize
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/options/options.h"
#include "compiler/quantize/quantize.h"
#include "tools/judge/runner.h"
#include "tools/kiln/calibration_data.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/list_option.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/quantize_report.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

constexpr double kLeastPercentile = 50;

struct QuantizeFlags {
  std::string model, calibration, output, json, method = "minmax";
  std::optional<double> percentile;
  bool symmetric = false, no_per_channel = false;
  std::vector<std::string> op_types, keep_float;
  int64_t samples = 0;
  InputFlags inputs;
};

// Compiles for this machine, without Winograd's algorithm, whose errors would count as errors of
// quantization.
absl::StatusOr<quantize::Run> MakeRun(const Graph& graph) {
  CompileOptions options;
  options.module_name = "calibrated";
  options.codegen = DefaultCodegen();
  KILN_ASSIGN_OR_RETURN(options.target, Target::Parse("host"));
  options.calling_convention = DefaultCallingConvention(options.runtime, options.interface);
  options.schedule.winograd = false;
  KILN_ASSIGN_OR_RETURN(const Runner runner, CompileRunner(graph, options));
  return [runner](const quantize::Sample& sample) {
    std::vector<Tensor> inputs;
    for (const Port& input : runner.inputs) inputs.push_back(sample.at(input.name));
    return runner.RunOnce(inputs);
  };
}

absl::StatusOr<quantize::QuantizeOptions> QuantizeOptionsOf(const QuantizeFlags& flags,
                                                            const std::string& bytes) {
  quantize::QuantizeOptions options;
  KILN_ASSIGN_OR_RETURN(options.calibration.method, quantize::ParseMethod(flags.method));
  if (flags.percentile.has_value()) {
    if (options.calibration.method != quantize::Method::kPercentile) {
      return absl::InvalidArgumentError(
          absl::StrCat("--percentile: found --method ", flags.method, ", wanted percentile"));
    }
    if (!(*flags.percentile >= kLeastPercentile && *flags.percentile <= 100)) {
      return absl::InvalidArgumentError(absl::StrCat("--percentile: found ", *flags.percentile,
                                                     ", wanted a number from ", kLeastPercentile,
                                                     " to 100"));
    }
    options.calibration.percentile = *flags.percentile;
  }
  options.calibration.symmetric = flags.symmetric;
  options.per_channel = !flags.no_per_channel;
  options.select = {.op_types = flags.op_types, .keep_float = flags.keep_float};
  KILN_ASSIGN_OR_RETURN(options.import, OnnxImportOptions(bytes, flags.model, flags.inputs));
  options.evaluate = EvaluateConstants;
  options.compile = MakeRun;
  return options;
}

// Checks before the work that the result can be written.
absl::StatusOr<OutputFolder> FolderOf(absl::string_view option, const std::string& file) {
  KILN_RETURN_IF_ERROR(CheckIsNoFolder(option, file));
  return OutputFolder::Make(std::filesystem::path(file).parent_path().string());
}

absl::Status Quantize(const QuantizeFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.model, kMaxModelFileBytes));
  KILN_ASSIGN_OR_RETURN(quantize::QuantizeOptions options, QuantizeOptionsOf(flags, bytes));
  KILN_ASSIGN_OR_RETURN(const quantize::Quantizer quantizer,
                        quantize::Quantizer::Read(bytes, flags.model, std::move(options)));
  std::vector<std::string> read = FilesOf(flags.inputs);
  read.push_back(flags.model);
  KILN_ASSIGN_OR_RETURN(
      const std::vector<quantize::Sample> samples,
      ReadSamples(flags.calibration, quantizer.inputs(), static_cast<size_t>(flags.samples), read));
  KILN_ASSIGN_OR_RETURN(const OutputFolder folder, FolderOf("-o", flags.output));
  FileChanges changes = {.files = {{flags.output, ""}}, .inputs = std::move(read)};
  if (!flags.json.empty()) {
    KILN_RETURN_IF_ERROR(CheckIsNoFolder("--json", flags.json));
  }
  Progress progress("quantizing");
  absl::StatusOr<quantize::Quantized> quantized = quantizer.Run(samples);
  progress.Stop();
  KILN_RETURN_IF_ERROR(quantized.status());
  changes.files[0].bytes = std::move(quantized->bytes);
  if (!flags.json.empty()) {
    changes.files.push_back({flags.json, QuantizeReportJson(*quantized)});
  }
  KILN_RETURN_IF_ERROR(Apply(changes));
  return Print(QuantizeReport(*quantized));
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "quantize", "Make an int8 ONNX model of a float32 one, by samples of its inputs");
  auto flags = std::make_shared<QuantizeFlags>();
  command->add_option("model", flags->model, "ONNX model of float32")->required();
  command
      ->add_option("--calibration", flags->calibration,
                   "Folder with samples in .npy files, one or many per file; of a model with "
                   "several inputs, NAME.npy or NAME/*.npy for each")
      ->required();
  command->add_option("-o,--output", flags->output, "Where the int8 model goes")->required();
  command
      ->add_option("--method", flags->method,
                   "How ranges of tensors are chosen: minmax, percentile or entropy")
      ->capture_default_str();
  command->add_option("--percentile", flags->percentile,
                      absl::StrCat("Percent of the values that the method percentile keeps [",
                                   quantize::CalibrationOptions().percentile, "]"));
  command->add_flag("--symmetric", flags->symmetric,
                    "Zero points of activations are 0, as some accelerators want it");
  command->add_flag("--no-per-channel", flags->no_per_channel,
                    "One scale for all weights of a layer, not one per output channel");
  AddListOption(*command, "--op-types", flags->op_types,
                "Operators to quantize, of those that can be [all]: Conv,Gemm");
  AddListOption(*command, "--keep-float,--skip", flags->keep_float,
                "Nodes that stay float32, by their names or their outputs' names");
  command->add_option("--samples", flags->samples, "The most samples to use; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--json", flags->json, "Write the report to this file as well, as JSON");
  AddInputOptions(*command, flags->inputs);
  SetGroups(*command, {{"Samples", {"--calibration", "--samples"}},
                       {"Method",
                        {"--method", "--percentile", "--symmetric", "--no-per-channel",
                         "--op-types", "--keep-float"}},
                       {"Output", {"--output", "--json"}}});
  command->footer(
      "Prints for every int8 layer its range, scale and zero point, and what is lost:\n"
      "the ratio of signal to quantization noise in dB (20 are a tenth, 40 a\n"
      "hundredth), of the layer alone and in the model as it is then; which layers\n"
      "stay float32 and why; and which lose most.\n"
      "Examples:\n"
      "  kiln quantize digits.onnx --calibration images -o digits_int8.onnx\n"
      "  kiln quantize digits.onnx --calibration images -o digits_int8.onnx --method entropy "
      "--keep-float conv1 --json report.json");
  command->callback([flags, &action] { action = [flags] { return Quantize(*flags); }; });
}

}  // namespace kiln::tools
