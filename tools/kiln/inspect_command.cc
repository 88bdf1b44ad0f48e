// SPDX-License-Identifier: Apache-2.0
// kiln inspect
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/byte_constants.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/cpu_variants.h"
#include "compiler/target/target.h"
#include "metadata/json.h"
#include "runtime_cpp/cpu/this_cpu.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/library_file.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"
#include "tools/firmware/run_image.h"
#include "tools/kiln/choices.h"
#include "tools/kiln/code_figures.h"
#include "tools/kiln/code_options.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/elf.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/layer_report.h"
#include "tools/kiln/library.h"
#include "tools/kiln/library_metadata.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/machine_rows.h"
#include "tools/kiln/macs.h"
#include "tools/kiln/make_model_page.h"
#include "tools/kiln/model_library.h"
#include "tools/kiln/object_report.h"
#include "tools/kiln/report.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/target_option.h"
#include "tools/kiln/widened_weights.h"
#include "tools/terminal/terminal.h"

namespace kiln::tools {
namespace {

struct InspectFlags : CodeFlags {
  std::string file, stack_usage;
  std::optional<std::string> emulator;
  std::optional<std::string> html, times;
  bool json = false, skip_checksum = false, load = false, choices = false;
  int timeout_seconds = 60;
  // Options that apply to models only: compilation options.
  std::vector<CLI::Option*> of_models;

  // Returns the first of these options on the command line, except --target. Null if there is none.
  const CLI::Option* GivenForModel() const {
    const auto given = absl::c_find_if(of_models, [](const CLI::Option* option) {
      return option->count() > 0 && option->get_name() != "--target";
    });
    return given == of_models.end() ? nullptr : *given;
  }
};

// Returns the options of compile. For firmware, the defaults are the C runtime and the C interface.
absl::StatusOr<CompileOptions> OptionsFor(const InspectFlags& flags) {
  CodeFlags code = flags;
  code.model = flags.file;
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTargetOption(flags.target));
  const bool is_named = absl::c_any_of(flags.of_models, [](const CLI::Option* option) {
    return option->count() > 0 &&
           (option->get_name() == "--runtime" || option->get_name() == "--interface");
  });
  if (!is_named && target.is_baremetal()) {
    code.runtime = "crt";
    code.interface = code.executor == "graph" || code.system_lib ? "packed" : "c";
  }
  return CompileOptionsOf(code);
}

// Returns the bytes of the workspace that steps of the plan save. Empty if they save nothing.
std::string Savings(const Compilation& compilation) {
  const int64_t by_overlap = compilation.plan.overlap_saves_bytes,
                by_strips = compilation.strips_save_bytes;
  std::vector<std::string> savings;
  if (by_overlap > 0) {
    savings.push_back(absl::StrCat(by_overlap, " bytes by outputs that reach into inputs"));
  }
  if (by_strips > 0) savings.push_back(absl::StrCat(by_strips, " bytes by strips of rows"));
  return savings.empty() ? "" : absl::StrCat("memory saved: ", absl::StrJoin(savings, ", "), "\n");
}

// Returns a line on weights that are stored in the form that Winograd's filtering reads, and that
// takes more bytes. Returns an empty text if there are none.
std::string TransformedWeights(const Compilation& compilation) {
  constexpr double kBytesPerMegabyte = 1e6;
  double bytes = 0, before = 0;
  for (const proto::Function& function : compilation.metadata.functions()) {
    const auto found = compilation.lowered.contractions.find(function.name());
    if (found == compilation.lowered.contractions.end()) continue;
    const ContractionChoice& choice = found->second.choice;
    if (choice.algorithm != ContractionChoice::Algorithm::kWinograd) continue;
    // F(m x m, 3 x 3) has (m + 2) x (m + 2) numbers for the 3 x 3 of a window.
    const auto extent = static_cast<double>(choice.outputs + 2);
    const auto constants = static_cast<double>(function.constant_size_bytes());
    bytes += constants;
    before += constants * 9 / (extent * extent);
  }
  if (bytes == 0) return "";
  return absl::StrFormat(
      "weights in the form of Winograd's filtering: %.2f MB, about %.2f MB in the model; "
      "--no-winograd keeps their size\n",
      bytes / kBytesPerMegabyte, before / kBytesPerMegabyte);
}

absl::StatusOr<std::string> InspectModel(const InspectFlags& flags) {
  KILN_ASSIGN_OR_RETURN(CompileOptions options, OptionsFor(flags));
  ImportFindings findings;
  KILN_ASSIGN_OR_RETURN(const Graph graph, LoadModel(flags.file, flags.inputs, &findings));
  options.origin = findings.origin;
  if (flags.choices && !options.target.is_baremetal()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--choices: found --target ", options.target.name,
                     ", wanted a microcontroller's, such as cortex-m4f"));
  }
  if (flags.choices && flags.json) return ChoicesJson(graph, options);
  if (flags.choices) return ChoicesText(graph, options, TerminalColumns(STDOUT_FILENO));
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, options));
  if (flags.html.has_value()) {
    KILN_ASSIGN_OR_RETURN(const std::string page,
                          MakeModelPage(flags.file, graph, compilation, options, flags.times));
    KILN_RETURN_IF_ERROR(Apply({.files = {{*flags.html, page}}, .inputs = {flags.file}}));
  }
  const std::vector<Target> targets = EffectiveTargets(options);
  if (flags.json) {
    auto json = nlohmann::ordered_json::parse(MetadataJson(compilation.metadata));
    json["machines"] = MachineLinesJson(targets);
    return json.dump(2) + "\n";
  }
  const int columns = TerminalColumns(STDOUT_FILENO);
  std::string report = absl::StrCat(Report(compilation.metadata, columns), MachineLines(targets),
                                    Savings(compilation), TransformedWeights(compilation));
  const std::string widened =
      WidenedWeightsText(findings.narrow_weights, ByteConstantsOf(compilation.fused));
  if (!widened.empty()) absl::StrAppend(&report, widened, "\n");
  if (options.target.is_baremetal()) {
    absl::StrAppend(&report, LayerReport(compilation.metadata,
                                         MacsOfCalls(compilation.fused, compilation.lowered.calls),
                                         CodeFigures(compilation, options), columns));
  }
  return report;
}

// Returns the CPU variant of the metadata that this CPU runs, in the same words as RunningVariant
// for a loaded library. If the variants are for another architecture, returns only their names.
absl::StatusOr<std::string> VariantOf(const proto::Metadata& metadata) {
  const Target host = Target::Host();
  std::string running = "none";
  for (const std::string& name : metadata.cpu_variants()) {
    KILN_ASSIGN_OR_RETURN(const Target target, Target::Parse(name));
    if (target.triple.substr(0, target.triple.find('-')) !=
        host.triple.substr(0, host.triple.find('-'))) {
      return absl::StrCat("CPU variants: ", absl::StrJoin(metadata.cpu_variants(), ", "), "\n");
    }
    const std::vector<std::string> required = RequiredFeatures(target);
    // Linux may deny a process the registers of AMX. The host then lacks the feature.
    const bool may_use = absl::c_all_of(required, [&](const std::string& feature) {
      return !absl::StartsWith(feature, "amx-") || host.HasFeature(feature);
    });
    if (may_use && MissingFeatures(required).empty()) running = name;
  }
  return absl::StrCat("variant ", running, " (of ", absl::StrJoin(metadata.cpu_variants(), ", "),
                      ")\n");
}

// Inspects a library without loading it, so that no code of the file runs.
absl::StatusOr<std::string> InspectLibrary(const InspectFlags& flags) {
  KILN_ASSIGN_OR_RETURN(runtime::LibraryFile file, runtime::LibraryFile::Open(flags.file));
  if (!flags.skip_checksum) {
    KILN_RETURN_IF_ERROR(runtime::CheckLibraryChecksum(file).status());
  }
  KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, file.Bytes());
  KILN_ASSIGN_OR_RETURN(const proto::Metadata metadata, ReadLibraryMetadata(bytes, flags.file));
  if (flags.json) return MetadataJson(metadata);
  std::string report;
  if (metadata.cpu_variants_size() > 0) {
    KILN_ASSIGN_OR_RETURN(report, VariantOf(metadata));
  }
  const std::vector<std::string> missing =
      MissingFeatures({metadata.cpu_features().begin(), metadata.cpu_features().end()});
  if (!missing.empty()) {
    absl::StrAppend(&report, "this CPU cannot run it: it lacks ", absl::StrJoin(missing, ", "),
                    "\n");
  }
  return absl::StrCat(report, Report(metadata, TerminalColumns(STDOUT_FILENO)),
                      MachineLines(TargetsOf(metadata)));
}

// Inspects a loaded library. Loading runs its code.
absl::StatusOr<std::string> InspectLoadedLibrary(const InspectFlags& flags) {
  KILN_ASSIGN_OR_RETURN(
      const runtime::Module module,
      runtime::Module::LoadFromFile(flags.file, {.check_checksum = !flags.skip_checksum}));
  KILN_ASSIGN_OR_RETURN(const runtime::ModelMetadata metadata,
                        runtime::ModelMetadata::Find(module));
  if (flags.json) return MetadataJson(MetadataOf(metadata));
  KILN_ASSIGN_OR_RETURN(const std::string variant, RunningVariant(module));
  const std::string report =
      absl::StrCat(variant.empty() ? "" : absl::StrCat("variant ", variant, "\n"),
                   Report(MetadataOf(metadata), TerminalColumns(STDOUT_FILENO)));
  if (metadata.executor() != "graph") return report;
  // The graph executor does not use the offsets of the plan. It assigns tensors to shared storages.
  KILN_ASSIGN_OR_RETURN(const auto executor, runtime::Executor::Create(module, runtime::kCpu));
  return absl::StrCat(report, "\nthe graph executor keeps its tensors in ",
                      executor->program().workspace_bytes(), " bytes of storages\n");
}

absl::StatusOr<std::string> InspectObject(const InspectFlags& flags, const std::string& bytes) {
  std::map<std::string, int64_t> stack_usage;
  if (!flags.stack_usage.empty()) {
    KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.stack_usage, kMaxFileBytes));
    KILN_ASSIGN_OR_RETURN(stack_usage, ParseStackUsage(text, flags.stack_usage));
  }
  const absl::StatusOr<ObjectFigures> figures = MeasureObject(bytes, std::move(stack_usage));
  if (!figures.ok()) return Annotate(figures.status(), flags.file + ": ");
  return flags.json ? ObjectJson(*figures) : ObjectText(*figures);
}

absl::StatusOr<std::string> InspectImage(const InspectFlags& flags) {
  std::string core;
  if (!flags.target.empty()) {
    KILN_ASSIGN_OR_RETURN(const Target target, ParseTargetOption(flags.target));
    core = target.cpu;
  }
  const RunOptions options = {
      .timeout_seconds = flags.timeout_seconds, .counts = true, .core = core};
  KILN_ASSIGN_OR_RETURN(const EmulatedRun run, RunImage(*flags.emulator, flags.file, options));
  return flags.json ? EmulatedJson(run) : EmulatedText(run);
}

absl::StatusOr<std::string> InspectFile(const InspectFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.file, kMaxFileBytes));
  if (flags.emulator.has_value()) return InspectImage(flags);
  const bool is_elf = absl::StartsWith(bytes, kElfMagic), is_archive = IsArchive(bytes);
  if ((is_elf || is_archive) && flags.html.has_value()) {
    return absl::InvalidArgumentError(
        flags.file +
        ": is compiled already; --html shows a model, wanted the file that it was "
        "compiled from");
  }
  if ((is_elf || is_archive) && flags.choices) {
    return absl::InvalidArgumentError(flags.file +
                                      ": is compiled already, wanted a model for --choices");
  }
  const CLI::Option* const given = flags.GivenForModel();
  if ((is_elf || is_archive) && (given != nullptr || !flags.target.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat(flags.file, ": is compiled already, wanted a model for ",
                     given != nullptr ? given->get_name() : "--target"));
  }
  if (IsElfObject(bytes)) return InspectObject(flags, bytes);
  if (!flags.stack_usage.empty()) {
    return absl::InvalidArgumentError(flags.file +
                                      ": is no object (.o), which --stack-usage is for");
  }
  if (is_archive && flags.json) {
    return absl::InvalidArgumentError(
        flags.file + ": is an archive, which holds its own metadata.json; leave --json out");
  }
  if (is_archive) return ReportArchive(bytes, flags.file, TerminalColumns(STDOUT_FILENO));
  if (!is_elf) return InspectModel(flags);
  return flags.load ? InspectLoadedLibrary(flags) : InspectLibrary(flags);
}

absl::Status Inspect(const InspectFlags& flags) {
  if (flags.html.has_value()) {
    KILN_RETURN_IF_ERROR(CheckIsNoFolder("--html", *flags.html));
  }
  KILN_ASSIGN_OR_RETURN(const std::string report, InspectFile(flags));
  return Print(report);
}

}  // namespace

void AddInspectCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "inspect",
      "Show inputs, outputs, operators, memory plan and constants of a library, archive or model, "
      "or what an object takes of flash, RAM and stack");
  auto flags = std::make_shared<InspectFlags>();
  command->add_option("file", flags->file, "Shared object, object, archive of --mlf, or model file")
      ->required();
  AddCodeOptions(*command, *flags);
  // --profile of compile adds calls to the code. inspect instead reads the times that they
  // measured. Slow paths are always shown.
  command->remove_option(command->get_option("--profile"));
  command->remove_option(command->get_option("--fail-on-slow"));
  flags->of_models = command->get_options([](const CLI::Option* option) {
    return !option->get_positional() && option->get_name() != "--help";
  });
  command->add_flag("--json", flags->json,
                    "Write JSON: of a library or model its metadata, of a model also the rows of "
                    "tuned numbers, with --choices the rows");
  command->add_flag(kSkipChecksum, flags->skip_checksum,
                    "Of a library: do not check that it is undamaged");
  command->add_flag("--load", flags->load,
                    "Of a library: load it, which runs its code, and show what the loaded library "
                    "says; for libraries of TVM");
  CLI::Option* const choices = command->add_flag("--choices", flags->choices,
                                                 "Of a model for a microcontroller: RAM, flash, "
                                                 "stack and instructions (by QEMU) with each value "
                                                 "of --optimize, the smallest RAM first");
  choices->excludes("--optimize");
  CLI::Option* html = command->add_option(
      "--html", flags->html,
      "Of a model: file for a page that shows its graph, memory, flash and quantization");
  command
      ->add_option("--profile", flags->times,
                   "With --html: file or pipe of what bench --profile --json has printed, to show "
                   "times; - is standard input")
      ->needs(html);
  command->add_option("--stack-usage", flags->stack_usage,
                      "Of an object: what gcc -fstack-usage has written beside it (.su)");
  command->add_option("--emulator", flags->emulator,
                      "Of a firmware image: QEMU and its arguments, to count the instructions that "
                      "the program executes between BeginInference and EndInference, and to "
                      "estimate its cycles");
  command
      ->add_option("--timeout", flags->timeout_seconds, "Of an image: seconds that it may run for")
      ->check(CLI::Range(1, 24 * 3600))
      ->capture_default_str();
  SetGroups(*command, {{"Machine and speed", {"--choices"}},
                       {"Page", {"--html", "--profile"}},
                       {"Library", {"--skip-checksum", "--load"}},
                       {"Object", {"--stack-usage"}},
                       {"Firmware image", {"--emulator", "--timeout"}},
                       {"Output", {"--json"}}});
  command->footer(
      "Examples:\n  kiln inspect out/my_mod.so\n  kiln inspect my_mod.tar\n"
      "  kiln inspect model.onnx --target cortex-m4f --optimize size --pool sram:64K\n"
      "  kiln inspect model.onnx --target cortex-m4f --choices\n"
      "  kiln inspect model.onnx --target cortex-m4f --html model.html\n"
      "  kiln inspect firmware/my_mod.o\n"
      "  kiln inspect app.elf --emulator \"qemu-system-arm -machine mps2-an386 -nographic "
      "-semihosting\"");
  command->callback([flags, &action] { action = [flags] { return Inspect(*flags); }; });
}

}  // namespace kiln::tools
