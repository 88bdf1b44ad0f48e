// SPDX-License-Identifier: Apache-2.0
// kiln validate
#include <unistd.h>

#include <cmath>
#include <functional>
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
#include "tools/kiln/loaded_model.h"
#include "tools/kiln/model_library.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/terminal.h"
#include "tools/validate/board_run.h"

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

struct NamedType {
  std::string name;
  TensorType type;
};

// The model that runs the samples.
struct Subject {
  std::string where;
  std::vector<NamedType> inputs, outputs;
  std::function<absl::StatusOr<BoardRun>(const std::vector<Samples>&)> run;
};

Subject OnHost(Library library, std::string where) {
  Subject subject = {.where = std::move(where)};
  std::vector<int> indices;
  const std::shared_ptr<runtime::Executor> executor = library.executor;
  for (int i = 0; i < executor->num_inputs(); ++i) {
    if (executor->IsParam(i)) continue;
    const runtime::TensorInfo& info = executor->input_infos()[static_cast<size_t>(i)];
    subject.inputs.push_back({info.name, TypeOf(info)});
    indices.push_back(i);
  }
  for (const runtime::TensorInfo& info : executor->output_infos()) {
    subject.outputs.push_back({info.name, TypeOf(info)});
  }
  subject.run = [library = std::move(library),
                 indices](const std::vector<Samples>& inputs) -> absl::StatusOr<BoardRun> {
    std::map<int, Samples> by_index;
    for (size_t i = 0; i < inputs.size(); ++i) by_index[indices[i]] = inputs[i];
    BoardRun run;
    KILN_ASSIGN_OR_RETURN(run.outputs, RunSamples(*library.executor, by_index));
    return run;
  };
  return subject;
}

absl::StatusOr<Subject> OnBoard(const ValidateFlags& flags, const mlf::Module& module) {
  KILN_RETURN_IF_ERROR(CheckForBoard(module));
  KILN_ASSIGN_OR_RETURN(const Board board, FindBoard(module.metadata.target()));
  Subject subject = {.where = absl::StrCat("on ", board.target, " in QEMU")};
  const proto::Function& main = module.metadata.functions(0);
  for (int i = 0; i < main.parameters_size(); ++i) {
    const proto::Parameter& parameter = main.parameters(i);
    NamedType named = {parameter.relay_name_hint(), {}};
    named.type.shape.assign(parameter.shape().begin(), parameter.shape().end());
    KILN_ASSIGN_OR_RETURN(named.type.dtype, DType::Parse(parameter.dtype()));
    (i < main.num_inputs() ? subject.inputs : subject.outputs).push_back(std::move(named));
  }
  const BoardOptions options = {.emulator = flags.emulator,
                                .timeout_seconds = flags.timeout_seconds};
  subject.run = [module, board, options](const std::vector<Samples>& inputs) {
    return RunOnBoard(module, board, inputs, options);
  };
  return subject;
}

absl::StatusOr<Subject> CompileSubject(const ValidateFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const CompileOptions options,
                        OptionsToRun(flags, DefaultModuleName(flags.model)));
  const bool on_board = options.target.is_baremetal();
  if (!on_board && !flags.emulator.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: wanted a microcontroller's --target with it, such as cortex-m4f");
  }
  KILN_ASSIGN_OR_RETURN(Graph graph, LoadModel(flags.model, flags.inputs));
  if (on_board) {
    KILN_ASSIGN_OR_RETURN(const mlf::Module module, CompileForBoard(graph, options));
    return OnBoard(flags, module);
  }
  KILN_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadedModel::Make(std::move(graph), options));
  return OnHost(loaded.library(), absl::StrCat("on this machine (", options.target.name, ")"));
}

absl::StatusOr<Subject> SubjectOf(const ValidateFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.model, kMaxFileBytes));
  const bool is_library = absl::StartsWith(bytes, kElfMagic), is_archive = IsArchive(bytes);
  if (!is_library && !is_archive) return CompileSubject(flags);
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
    if (library.modules.size() == 1) return OnBoard(flags, library.modules.front());
    return absl::InvalidArgumentError(absl::StrCat(flags.model, ": found ", library.modules.size(),
                                                   " modules, wanted an archive of one"));
  }
  KILN_ASSIGN_OR_RETURN(Library library,
                        LoadLibrary(flags.model, {.skip_checksum = flags.skip_checksum}));
  return OnHost(std::move(library), "on this machine");
}

// Parses "name=FILE", or FILE if there is only one tensor. Returns the samples, keyed by the
// tensor's index.
absl::StatusOr<std::map<size_t, Samples>> ReadFiles(const char* option, const char* what,
                                                    const std::vector<std::string>& texts,
                                                    const std::vector<NamedType>& tensors) {
  std::map<size_t, Samples> files;
  for (const std::string& text : texts) {
    const size_t at = text.find('=');
    const bool named = at != std::string::npos;
    size_t index = 0;
    while (named && index < tensors.size() && tensors[index].name != text.substr(0, at)) ++index;
    if (index == tensors.size() || (!named && tensors.size() != 1)) {
      const std::string names = absl::StrJoin(
          tensors, ", ",
          [](std::string* out, const NamedType& tensor) { absl::StrAppend(out, tensor.name); });
      return absl::InvalidArgumentError(absl::StrCat(
          option, ": found '", text, "', wanted NAME=FILE; the model has the ", what, "s ", names));
    }
    const NamedType& tensor = tensors[index];
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

absl::StatusOr<Bounds> BoundsOf(const ValidateFlags& flags, const NamedType& output) {
  const bool is_float = output.type.dtype.is_float();
  if (is_float && flags.quanta) {
    return absl::InvalidArgumentError(absl::StrCat("--quanta: the output '", output.name, "' is ",
                                                   output.type.dtype.ToString(),
                                                   ", wanted --atol and --rtol for it"));
  }
  return Bounds{.relative = flags.rtol.value_or(is_float ? kFloatRelative : 0),
                .absolute = flags.atol.value_or(is_float ? kFloatAbsolute : 0),
                .steps = flags.quanta.value_or(0)};
}

// Returns all inputs in order. InvalidArgument if one is missing, or if files have different
// numbers of samples.
absl::StatusOr<std::vector<Samples>> InOrder(const std::vector<NamedType>& inputs,
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
  if (json) return Print(ValidationJson(validation));
  KILN_RETURN_IF_ERROR(Print(ValidationText(validation, TerminalColumns(STDOUT_FILENO)) + "\n"));
  for (const ValidatedOutput& output : validation.outputs) {
    const bool agrees = output.agreement.elements_beyond == 0;
    KILN_RETURN_IF_ERROR(Print(Verdict(output), agrees ? Style::kGreen : Style::kRed));
  }
  return absl::OkStatus();
}

absl::Status CheckOptionalTolerance(const char* option, const std::optional<double>& tolerance) {
  if (!tolerance || (*tolerance >= 0 && !std::isinf(*tolerance))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": found ", *tolerance, ", wanted a number of 0 or more"));
}

absl::Status Validate(const ValidateFlags& flags) {
  KILN_RETURN_IF_ERROR(CheckOptionalTolerance("--rtol", flags.rtol));
  KILN_RETURN_IF_ERROR(CheckOptionalTolerance("--atol", flags.atol));
  Progress progress("validating " + flags.model);
  KILN_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(flags));
  KILN_ASSIGN_OR_RETURN(auto files, ReadFiles("--inputs", "input", flags.samples, subject.inputs));
  KILN_ASSIGN_OR_RETURN(const auto expected,
                        ReadFiles("--expected", "output", flags.expected, subject.outputs));
  KILN_ASSIGN_OR_RETURN(const std::vector<Samples> inputs,
                        InOrder(subject.inputs, std::move(files), expected));
  std::map<size_t, Bounds> bounds;
  for (const auto& [index, samples] : expected) {
    KILN_ASSIGN_OR_RETURN(bounds[index], BoundsOf(flags, subject.outputs[index]));
  }
  KILN_ASSIGN_OR_RETURN(BoardRun run, subject.run(inputs));
  Validation validation = {
      .model = flags.model, .where = subject.where, .instructions = std::move(run.instructions)};
  for (const auto& [index, wanted] : expected) {
    validation.outputs.push_back({subject.outputs[index].name, wanted.type,
                                  MeasureAgreement(run.outputs[index], wanted, bounds[index])});
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
