// SPDX-License-Identifier: Apache-2.0
// kiln validate
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "mlf/model_library.h"
#include "tools/judge/runner.h"
#include "tools/judge/validation.h"
#include "tools/kiln/board_model.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/elf.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/library.h"
#include "tools/kiln/model_library.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/terminal.h"

namespace kiln::tools {
namespace {

constexpr double kFloatRelative = 1e-5, kFloatAbsolute = 1e-6;

struct ValidateFlags : ModelFlags {
  std::vector<std::string> samples, expected;
  std::string emulator, format = "text";
  std::optional<double> rtol, atol;
  std::optional<uint64_t> quanta;
  bool skip_checksum = false;
  int timeout_seconds = 600;
};

absl::StatusOr<Runner> CompiledRunner(const ValidateFlags& flags, const BoardOptions& board) {
  KILN_ASSIGN_OR_RETURN(const CompileOptions options,
                        OptionsToRun(flags, DefaultModuleName(flags.model)));
  if (!options.target.is_baremetal() && !board.emulator.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: wanted a microcontroller's --target with it, such as cortex-m4f");
  }
  KILN_ASSIGN_OR_RETURN(const Graph graph, LoadModel(flags.model, flags.inputs));
  return CompileRunner(graph, options, board);
}

absl::StatusOr<Runner> RunnerOf(const ValidateFlags& flags) {
  const BoardOptions board = {.emulator = flags.emulator, .timeout_seconds = flags.timeout_seconds};
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.model, kMaxFileBytes));
  const bool is_library = absl::StartsWith(bytes, kElfMagic), is_archive = IsArchive(bytes);
  if (!is_library && !is_archive) return CompiledRunner(flags, board);
  if (IsElfObject(bytes)) {
    return absl::InvalidArgumentError(
        flags.model + ": is an object, wanted a model, a shared object or an archive of --mlf");
  }
  if (SaysHowToCompile(flags)) {
    return absl::InvalidArgumentError(
        flags.model + ": is compiled already, wanted a model for options of compilation");
  }
  if (is_archive) {
    KILN_ASSIGN_OR_RETURN(const mlf::ModelLibrary library, mlf::ReadArchive(bytes, flags.model));
    if (library.modules.size() == 1) return BoardRunner(library.modules.front(), board);
    return absl::InvalidArgumentError(absl::StrCat(flags.model, ": found ", library.modules.size(),
                                                   " modules, wanted an archive of one"));
  }
  KILN_ASSIGN_OR_RETURN(const Library library,
                        LoadLibrary(flags.model, {.skip_checksum = flags.skip_checksum}));
  return LibraryRunner(library, "on this machine");
}

// Parses "name=FILE", or FILE if there is only one tensor. Returns the samples, keyed by the
// tensor's index.
absl::StatusOr<std::map<size_t, Samples>> ReadFiles(const char* option, const char* what,
                                                    const std::vector<std::string>& texts,
                                                    const std::vector<Port>& tensors) {
  std::map<size_t, Samples> files;
  for (const std::string& text : texts) {
    const size_t at = text.find('=');
    const bool named = at != std::string::npos;
    size_t index = 0;
    while (named && index < tensors.size() && tensors[index].name != text.substr(0, at)) ++index;
    if (index == tensors.size() || (!named && tensors.size() != 1)) {
      const std::string names = absl::StrJoin(
          tensors, ", ",
          [](std::string* out, const Port& tensor) { absl::StrAppend(out, tensor.name); });
      return absl::InvalidArgumentError(absl::StrCat(
          option, ": found '", text, "', wanted NAME=FILE; the model has the ", what, "s ", names));
    }
    const Port& tensor = tensors[index];
    KILN_ASSIGN_OR_RETURN(Samples samples,
                          ReadSamples(absl::StrCat(option, " ", tensor.name),
                                      named ? text.substr(at + 1) : text, tensor.type));
    if (!files.emplace(index, std::move(samples)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": '", tensor.name, "' is given twice"));
    }
  }
  return files;
}

absl::StatusOr<Tolerance> ToleranceOf(const ValidateFlags& flags, const Port& output) {
  const bool is_float = output.type.dtype.is_float();
  if (is_float && flags.quanta) {
    return absl::InvalidArgumentError(absl::StrCat("--quanta: the output '", output.name, "' is ",
                                                   output.type.dtype.ToString(),
                                                   ", wanted --atol and --rtol for it"));
  }
  return Tolerance{.relative = flags.rtol.value_or(is_float ? kFloatRelative : 0),
                   .absolute = flags.atol.value_or(is_float ? kFloatAbsolute : 0),
                   .steps = flags.quanta.value_or(0)};
}

// Returns all inputs in order. InvalidArgument if one is missing, or if files have different
// numbers of samples.
absl::StatusOr<std::vector<Samples>> InOrder(const std::vector<Port>& inputs,
                                             std::map<size_t, Samples> files,
                                             const std::map<size_t, Samples>& expected) {
  std::vector<Samples> ordered;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!files.contains(i)) {
      return absl::InvalidArgumentError(absl::StrCat("no samples for the input '", inputs[i].name,
                                                     "': wanted --inputs ", inputs[i].name,
                                                     "=FILE"));
    }
    ordered.push_back(std::move(files[i]));
  }
  if (ordered.empty()) return absl::InvalidArgumentError("the model has no inputs to validate");
  const int64_t count = ordered.front().count;
  const auto check = [&](const Samples& samples) {
    if (samples.count == count) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("found ", count, " and ", samples.count,
                     " samples, wanted as many in all files of --inputs and --expected"));
  };
  for (const Samples& samples : ordered) KILN_RETURN_IF_ERROR(check(samples));
  for (const auto& [index, samples] : expected) KILN_RETURN_IF_ERROR(check(samples));
  return ordered;
}

absl::Status PrintValidation(const Validation& validation, bool json) {
  if (json) return PrintJson(ValidationJson(validation));
  KILN_RETURN_IF_ERROR(Print(ValidationText(validation, TerminalColumns(STDOUT_FILENO)) + "\n"));
  for (const ValidatedOutput& output : validation.outputs) {
    const bool agrees = output.agreement.elements_beyond == 0;
    KILN_RETURN_IF_ERROR(Print(Verdict(output), agrees ? Style::kGreen : Style::kRed));
  }
  return absl::OkStatus();
}

absl::Status Validate(const ValidateFlags& flags) {
  KILN_RETURN_IF_ERROR(CheckTolerance("--rtol", flags.rtol.value_or(0)));
  KILN_RETURN_IF_ERROR(CheckTolerance("--atol", flags.atol.value_or(0)));
  Progress progress("validating " + flags.model);
  KILN_ASSIGN_OR_RETURN(const Runner runner, RunnerOf(flags));
  KILN_ASSIGN_OR_RETURN(auto files, ReadFiles("--inputs", "input", flags.samples, runner.inputs));
  KILN_ASSIGN_OR_RETURN(const auto expected,
                        ReadFiles("--expected", "output", flags.expected, runner.outputs));
  KILN_ASSIGN_OR_RETURN(const std::vector<Samples> inputs,
                        InOrder(runner.inputs, std::move(files), expected));
  std::map<size_t, Tolerance> tolerances;
  for (const auto& [index, samples] : expected) {
    KILN_ASSIGN_OR_RETURN(tolerances[index], ToleranceOf(flags, runner.outputs[index]));
  }
  KILN_ASSIGN_OR_RETURN(SampleRun run, runner.run(inputs));
  Validation validation = {
      .model = flags.model, .where = runner.where, .instructions = std::move(run.instructions)};
  for (const auto& [index, wanted] : expected) {
    validation.outputs.push_back({runner.outputs[index].name, wanted.type,
                                  MeasureAgreement(run.outputs[index], wanted, tolerances[index])});
  }
  progress.Stop();
  KILN_RETURN_IF_ERROR(PrintValidation(validation, flags.format == "json"));
  if (IsWithinBounds(validation)) return absl::OkStatus();
  return absl::AbortedError(flags.model + ": outputs differ by more than the tolerance");
}

}  // namespace

void AddValidateCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "validate", "Compare a model's outputs for many samples with those of another runtime");
  auto flags = std::make_shared<ValidateFlags>();
  AddModelOptions(*command, *flags);
  command
      ->add_option("--inputs", flags->samples,
                   "Samples of an input, FILE or NAME=FILE (.npy or ONNX .pb): the first dimension "
                   "counts them")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("--expected", flags->expected,
                   "What an output should be for these samples, FILE or NAME=FILE")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--rtol", flags->rtol,
                      "Relative tolerance [1e-5 for floats, 0 for integers]");
  command->add_option("--atol", flags->atol,
                      "Absolute tolerance [1e-6 for floats, 0 for integers]");
  command->add_option("--quanta", flags->quanta,
                      "Of integers: differences of up to so many steps agree [0]");
  command->add_option("--format", flags->format, "text, or json for machines")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag_callback("--json", [flags] { flags->format = "json"; }, "As --format json");
  command->add_option("--emulator", flags->emulator,
                      "Of a microcontroller's --target: QEMU and its arguments [the board's]");
  command
      ->add_option("--timeout", flags->timeout_seconds,
                   "In the emulator: seconds that all samples may take")
      ->check(CLI::Range(1, 24 * 3600))
      ->capture_default_str();
  command->add_flag(kSkipChecksum, flags->skip_checksum, kSkipChecksumHelp);
  SetGroups(*command, {{"Samples", {"--inputs", "--expected"}},
                       {"Tolerance", {"--rtol", "--atol", "--quanta"}},
                       {"Emulator", {"--emulator", "--timeout"}},
                       {"Library", {"--skip-checksum"}},
                       {"Output", {"--format", "--json"}}});
  command->footer(
      "Examples:\n"
      "  kiln validate kws.tflite --inputs samples.npy --expected tflite_micro.npy\n"
      "  kiln validate kws.tflite --inputs samples.npy --expected tflite_micro.npy "
      "--target cortex-m4f\n"
      "  kiln validate model.onnx --inputs image=x.npy --expected logits=y.npy --rtol 1e-4\n"
      "  kiln validate out/model.so --inputs x.npy --expected y.npy --format json");
  command->callback([flags, &action] { action = [flags] { return Validate(*flags); }; });
}

}  // namespace kiln::tools
