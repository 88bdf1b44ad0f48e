// SPDX-License-Identifier: Apache-2.0
// kiln compile
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/emit_stage.h"
#include "mlf/model_library.h"
#include "tools/kiln/allowances.h"
#include "tools/kiln/c_compiler.h"
#include "tools/kiln/code_options.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/compile_summary.h"
#include "tools/kiln/dump_stages.h"
#include "tools/kiln/files.h"
#include "tools/kiln/generated_headers.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/model_library.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/reserved_module.h"
#include "tools/kiln/slow_paths_option.h"
#include "tools/kiln/stale_files.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/tuning_option.h"
#include "tools/kiln/widened_weights.h"

namespace kiln::tools {
namespace {

struct CompileFlags : CodeFlags {
  std::vector<std::string> models;  // `model` is the current one
  std::string output, emit, dump_dir;
  std::string mlf;
  bool mlf_runtime = false, headers = true, quiet = false;
};

absl::Status CheckMlfFlags(const CompileFlags& flags, const CompileOptions& options) {
  if (flags.mlf_runtime && flags.mlf.empty()) {
    return absl::InvalidArgumentError("--mlf-runtime: wanted --mlf FILE with it");
  }
  if (flags.mlf.empty()) return absl::OkStatus();
  if (!flags.emit.empty()) {
    return absl::InvalidArgumentError(
        "--mlf and --emit do not go together: --emit makes no code; leave one of them out");
  }
  KILN_RETURN_IF_ERROR(CheckIsNoFolder("--mlf", flags.mlf));
  return CheckForModelLibrary(options);
}

// Returns a sort key. Files that are linked or loaded come first.
int CodeRank(const OutputFile& file) {
  if (absl::EndsWith(file.path, ".so")) return 0;
  if (absl::EndsWith(file.path, ".o")) return 1;
  return absl::EndsWith(file.path, ".c") ? 2 : 3;
}

absl::Status CompileModel(const CompileFlags& flags) {
  const CompileSummary summary(flags.quiet);
  KILN_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsOf(flags));
  if (flags.emit.empty() && flags.output.empty() && flags.mlf.empty()) {
    return absl::InvalidArgumentError(
        "compile: wanted -o DIR to write to, --mlf FILE for an archive, or --emit STAGE to print");
  }
  KILN_RETURN_IF_ERROR(CheckMlfFlags(flags, options));
  if (!flags.emit.empty() && !flags.output.empty()) {
    KILN_RETURN_IF_ERROR(CheckIsNoFolder("-o with --emit", flags.output));
  }
  Progress progress("compiling " + flags.model);
  ImportFindings findings;
  KILN_ASSIGN_OR_RETURN(Graph graph, LoadModel(flags.model, flags.inputs, &findings));
  options.origin = findings.origin;
  if (!flags.dump_dir.empty()) KILN_RETURN_IF_ERROR(DumpStages(flags.dump_dir, graph, options));
  if (!flags.emit.empty()) {
    KILN_ASSIGN_OR_RETURN(const std::string text, EmitStage(graph, options, flags.emit));
    progress.Stop();
    if (!flags.output.empty()) {
      return Apply({.files = {{flags.output, text}}, .inputs = InputFilesOf(flags)});
    }
    return Print(text);
  }
  // The compiler frees parts of the graph. A copy is needed only for the archive.
  const Graph model = flags.mlf.empty() ? Graph() : graph;
  KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
  KILN_RETURN_IF_ERROR(
      ReportSlowPaths(compiled.compilation.lowered, options.target, flags.fail_on_slow));
  Artifacts& artifacts = compiled.artifacts;
  KILN_RETURN_IF_ERROR(LinkParts(options, compiled));
  FileChanges changes = {.inputs = InputFilesOf(flags)};
  std::string archive;
  if (!flags.mlf.empty()) {
    KILN_ASSIGN_OR_RETURN(const mlf::ModelLibrary library,
                          ModelLibraryOf(model, compiled, flags.mlf_runtime));
    KILN_ASSIGN_OR_RETURN(archive, mlf::WriteArchive(library));
  }
  if (!flags.output.empty()) {
    const std::filesystem::path folder = flags.output;
    if (flags.headers) {
      for (const auto& [name, text] : HeadersOf(artifacts)) {
        changes.files.push_back({(folder / name).string(), text});
      }
    }
    for (auto& [name, bytes] : artifacts) {
      changes.files.push_back({(folder / name).string(), std::move(bytes)});
    }
    std::stable_sort(
        changes.files.begin(), changes.files.end(),
        [](const OutputFile& a, const OutputFile& b) { return CodeRank(a) < CodeRank(b); });
  }
  if (!flags.mlf.empty()) changes.files.push_back({flags.mlf, std::move(archive)});
  KILN_RETURN_IF_ERROR(Apply(changes));
  progress.Stop();
  summary.Print(changes.files, options.target);
  NoteWhatIsNotTuned(options, compiled.compilation.lowered);
  NoteReservedModule(compiled.compilation.metadata);
  NoteWhatIsAllowedInVain(options, compiled.compilation.metadata);
  NoteWidenedWeights(findings.narrow_weights, compiled.byte_constants);
  if (flags.output.empty()) return absl::OkStatus();
  NoteStaleFiles(flags.output, options.module_name, artifacts);
  return absl::OkStatus();
}

// Checks that options for a single model are not used with several.
absl::Status CheckSeveralModels(const CompileFlags& flags) {
  for (const auto& [option, value] :
       {std::pair("--module-name", &flags.module_name), std::pair("--emit", &flags.emit),
        std::pair("--mlf", &flags.mlf), std::pair("--dump-dir", &flags.dump_dir)}) {
    if (value->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": found ", flags.models.size(), " models, wanted one"));
  }
  std::map<std::string, std::string> names;
  for (const std::string& model : flags.models) {
    const auto [other, is_new] = names.emplace(DefaultModuleName(model), model);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(other->second, " and ", model, " both make the module '", other->first,
                     "'; compile one of them alone, with --module-name"));
  }
  return absl::OkStatus();
}

absl::Status RunCompile(CompileFlags flags) {
  if (flags.models.size() > 1) KILN_RETURN_IF_ERROR(CheckSeveralModels(flags));
  for (const std::string& model : flags.models) {
    flags.model = model;
    KILN_RETURN_IF_ERROR(CompileModel(flags));
  }
  return absl::OkStatus();
}

}  // namespace

void AddCompileCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compile", "Compile a model (Relay text, ONNX or TFLite) into a library");
  auto flags = std::make_shared<CompileFlags>();
  command
      ->add_option("model", flags->models,
                   "Model files, or - for standard input; each becomes a module")
      ->required();
  AddCodeOptions(*command, *flags);
  command->add_option("-o,--output", flags->output, "Folder to write to; with --emit, the file");
  command->add_option("--mlf", flags->mlf,
                      "Write an archive of the Model Library Format; needs --runtime crt");
  command->add_flag("--mlf-runtime", flags->mlf_runtime,
                    "Put the C runtime's sources and build files into the archive");
  command->add_flag("--headers,!--no-headers", flags->headers,
                    "Write the runtime's headers that generated C includes beside it (default)");
  command->add_option(
      "--emit", flags->emit,
      "Print a stage instead: graph, after:<pass> (of the graph, as "
      "after:fuse, or of loops, as after:vectorize-loops), fused, stages, plans (of "
      "schedules), loops, scheduled, plan (of memory), c, llvm, asm, graph-json, "
      "metadata, header, external");
  command->add_option("--dump-dir", flags->dump_dir,
                      "Write one file per pass and stage to this folder");
  command->add_flag("-q,--quiet", flags->quiet,
                    "Do not say on the terminal what was written, and how long it took");
  SetGroups(*command,
            {{"Output", {"--mlf", "--mlf-runtime", "--headers", "--emit", "--dump-dir", "--quiet"}},
             {"Most used", {"--input", "--dim", "--target", "--threads", "--output"}}});
  command->footer(
      "Examples:\n"
      "  kiln compile model.onnx -o out --module-name my_mod\n"
      "  kiln compile a.onnx b.tflite -o out\n"
      "  kiln compile model.onnx -o out --input data:1x3x224x224 --target x86-64-v3\n"
      "  kiln compile model.onnx -o out --cpu-variants x86-64-v2,x86-64-v3,x86-64-v4\n"
      "  kiln compile model.onnx -o out --tuning model.tuning\n"
      "  kiln compile model.relay -o out --runtime crt --interface c --codegen c\n"
      "  kiln compile model.onnx -o out --runtime crt --interface c --pool tcm:32K::4 --pool "
      "ram:any\n"
      "  kiln compile model.relay --runtime crt --mlf model.tar --mlf-runtime\n"
      "  kiln compile model.relay --emit=plan");
  command->callback([flags, &action] { action = [flags] { return RunCompile(*flags); }; });
}

}  // namespace kiln::tools
