// SPDX-License-Identifier: Apache-2.0
// kiln tune
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/options/options.h"
#include "compiler/target/cpu_variants.h"
#include "compiler/tuning/tuning_file.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/library.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/measured_library.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/tuner.h"
#include "tools/kiln/tuning_option.h"

namespace kiln::tools {
namespace {

struct TuneFlags : ModelFlags {
  std::string output;
  double seconds = 60;
};

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends measuring, and the second one ends the program.
void CatchInterrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

// Shows progress: one line with a bar on a terminal, otherwise a line per finished step.
class Monitor {
 public:
  explicit Monitor(std::string what) : what_(std::move(what)) {}
  ~Monitor() {
    if (is_terminal_) std::fputs("\r\033[K", stderr);
  }
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  void Progress(double fraction, const std::string& doing) const {
    if (!is_terminal_) return;
    constexpr int kWidth = 30;
    const int full = static_cast<int>(fraction * kWidth);
    std::fprintf(stderr, "\r%s [%s%s] %3.0f%% %s\033[K", what_.c_str(),
                 std::string(static_cast<size_t>(full), '=').c_str(),
                 std::string(static_cast<size_t>(kWidth - full), ' ').c_str(), fraction * 100,
                 doing.c_str());
  }
  void Report(const std::string& line) const {
    if (!is_terminal_) std::fprintf(stderr, "%s\n", line.c_str());
  }

 private:
  std::string what_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
};

// Checks that this machine can run code for the target, because illegal instructions would end this
// program.
absl::Status CheckRunsHere(const Target& target) {
  const auto annotate = [&](const absl::Status& status) {
    return Annotate(
        status, absl::StrCat("--target ", target.name, ": choices are measured on this machine: "));
  };
  if (target.is_baremetal() || target.triple != Target::Host().triple) {
    return annotate(absl::InvalidArgumentError(
        absl::StrCat("found a target of ", target.triple, ", wanted one that it runs")));
  }
  const auto features = CpuFeaturesOf(target);
  if (!features.ok()) {
    return target.name == "host" ? absl::OkStatus() : annotate(features.status());
  }
  // A library with one CPU variant checks if the CPU supports it.
  constexpr char kModel[] =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1), float32]) {\n  negative(%x)\n}\n";
  KILN_ASSIGN_OR_RETURN(const Graph graph, ParseRelay(kModel, "probe", FindOpSchema));
  CompileOptions options;
  options.module_name = "this_machine";
  options.target = target;
  options.cpu_variants = {target};
  options.codegen = DefaultCodegen();
  return annotate(MeasuredLibrary::Make(graph, options).status());
}

// Returns the existing tuning file, which is extended.
absl::StatusOr<Tuning> Before(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Tuning{.file = path, .targets = {}};
  KILN_ASSIGN_OR_RETURN(const auto tuning, ReadTuning(path));
  return *tuning;
}

std::string Summary(const Target& target, const TuningResult& result) {
  const std::string counts = absl::StrFormat(
      "%s: another choice is faster for %d of %d distinct convolutions and products (%d measured)",
      target.name, result.num_better, result.num_contractions, result.num_choices);
  if (!result.compared) return absl::StrCat(counts, "; interrupted before the whole model was");
  return absl::StrFormat("%s; the model takes %.3f ms, without tuning %.3f ms", counts,
                         result.tuned_ms, result.default_ms);
}

absl::Status CheckTuneFlags(const TuneFlags& flags) {
  if (!(flags.seconds > 0) || std::isinf(flags.seconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--time: found ", flags.seconds, ", wanted a number of seconds above 0"));
  }
  return CheckIsNoFolder("-o", flags.output);
}

absl::Status Tune(const TuneFlags& flags) {
  KILN_RETURN_IF_ERROR(CheckTuneFlags(flags));
  CompileOptions options;
  KILN_RETURN_IF_ERROR(ApplyModelFlags(flags, options));
  options.calling_convention =
      DefaultCallingConvention(options.runtime, options.interface, options.externals);
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  std::vector<Target> targets = std::exchange(options.cpu_variants, {});
  if (targets.empty()) targets.push_back(options.target);
  CatchInterrupt();
  for (const Target& target : targets) KILN_RETURN_IF_ERROR(CheckRunsHere(target));
  KILN_RETURN_IF_ERROR(SetThreads(flags.threads));
  KILN_ASSIGN_OR_RETURN(Tuning tuning, Before(flags.output));
  KILN_ASSIGN_OR_RETURN(const Graph graph, LoadModel(flags.model, flags.inputs));
  const std::string model = std::filesystem::path(flags.model).filename().string();
  std::string header = absl::StrCat("kiln tune ", model, " --time ", flags.seconds,
                                    "\nFor kiln compile --tuning and cc_model(tuning = ...)");
  std::string summary;
  for (const Target& target : targets) {
    if (interrupted != 0) break;
    const Monitor monitor(absl::StrCat("tuning ", model));
    options.target = target;
    const Target effective = EffectiveTargets(options).front();
    const TunerOptions tuner = {
        .compile = options,
        .seconds = flags.seconds / static_cast<double>(targets.size()),
        .before = tuning.Find(effective),
        .file = flags.output,
        .stopped = [] { return interrupted != 0; },
        .progress = [&](double fraction,
                        const std::string& what) { monitor.Progress(fraction, what); },
        .report = [&](const std::string& line) { monitor.Report(line); }};
    KILN_ASSIGN_OR_RETURN(TuningResult result, TuneModel(graph, tuner));
    TunedTarget& tuned = tuning.FindOrAdd(effective);
    for (const auto& [problem, contraction] : result.tuned.contractions) {
      tuned.contractions[problem] = contraction;
    }
    const std::string line = Summary(effective, result);
    absl::StrAppend(&header, "\n", line);
    absl::StrAppend(&summary, line, "\n");
  }
  KILN_RETURN_IF_ERROR(
      Apply({.files = {{flags.output, PrintTuning(tuning, header)}}, .inputs = {flags.model}}));
  return Print(absl::StrCat(summary, "written to ", flags.output, "\n"));
}

}  // namespace

void AddTuneCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "tune",
      "Measure on this machine how convolutions and products of a model are computed fastest, for "
      "compile --tuning");
  auto flags = std::make_shared<TuneFlags>();
  AddModelOptions(*command, *flags);
  command
      ->add_option("-o,--output", flags->output,
                   "Tuning file to write; one that is there already is extended")
      ->required();
  command->add_option("--time", flags->seconds, "Seconds to measure for, about")
      ->capture_default_str();
  SetGroups(*command, {{"Measurement", {"--output", "--time"}}});
  command->footer(
      "Ctrl-C ends it early; what has been found is written.\n\n"
      "Examples:\n"
      "  kiln tune model.onnx -o model.tuning\n"
      "  kiln tune model.onnx -o model.tuning --threads 1 --time 120 --input data:1x3x224x224\n"
      "  kiln tune model.onnx -o model.tuning --cpu-variants x86-64-v2,x86-64-v3\n"
      "  kiln compile model.onnx -o out --tuning model.tuning");
  command->callback([flags, &action] { action = [flags] { return Tune(*flags); }; });
}

}  // namespace kiln::tools
