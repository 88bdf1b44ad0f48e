// SPDX-License-Identifier: Apache-2.0
// kiln compile
#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/emit_stage.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "mlf/model_library.h"
#include "tools/kiln/c_compiler.h"
#include "tools/kiln/code_options.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/generated_headers.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/model_library.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/stale_files.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/tuning_option.h"

namespace kiln::tools {
namespace {

struct CompileFlags : CodeFlags {
  std::string output, emit, dump_dir;
  std::string mlf;
  bool mlf_runtime = false, headers = true;
};

// One file per pass and stage, numbered, in the dump folder; of a compilation that fails those that
// it has come to.
absl::Status WriteDump(const std::string& folder, const Graph& graph,
                       const CompileOptions& options) {
  std::map<std::string, std::string> files;
  files["00-graph.relay"] = PrintRelay(graph);
  CompileOptions dumping = options;
  dumping.passes.after = [&](absl::string_view name, const Graph& result) {
    files[absl::StrCat(absl::Dec(files.size(), absl::kZeroPad2), "-", name, ".relay")] =
        PrintRelay(result);
  };
  const absl::Status status = [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const Stages stages, RunStages(graph, dumping));
    const auto add = [&](absl::string_view stage, std::string text) {
      files[absl::StrCat(absl::Dec(files.size(), absl::kZeroPad2), "-", stage, ".txt")] =
          std::move(text);
    };
    for (const char* stage : {"stages", "loops", "scheduled", "plan"}) {
      KILN_ASSIGN_OR_RETURN(std::string text, EmitStage(graph, options, stage));
      add(stage, std::move(text));
    }
    CompileOptions coding = options;
    coding.schedule.passes.after = [&](absl::string_view name, const loop::LoopProgram& result) {
      add(name, loop::ToString(result));
    };
    KILN_RETURN_IF_ERROR(CodeProgram(stages.program, coding).status());
    add("metadata", MetadataJson(stages.metadata));
    KILN_ASSIGN_OR_RETURN(std::string header, ModelHeader(stages.metadata));
    add("header", std::move(header));
    std::vector<const char*> forms = {"c"};
    if (options.codegen == Codegen::kLlvm) forms.insert(forms.end(), {"llvm", "asm"});
    for (const char* form : forms) {
      KILN_ASSIGN_OR_RETURN(std::string text, EmitCodeText(stages.program, options, form));
      add(form, std::move(text));
    }
    return absl::OkStatus();
  }();
  KILN_RETURN_IF_ERROR(WriteFiles(folder, files));
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\nthe stages before are in ", folder));
}

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

// What is linked or loaded comes first.
int CodeRank(const OutputFile& file) {
  if (absl::EndsWith(file.path, ".so")) return 0;
  if (absl::EndsWith(file.path, ".o")) return 1;
  return absl::EndsWith(file.path, ".c") ? 2 : 3;
}

absl::Status RunCompile(const CompileFlags& flags) {
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
  KILN_ASSIGN_OR_RETURN(Graph graph, LoadModel(flags.model, flags.inputs));
  if (!flags.dump_dir.empty()) KILN_RETURN_IF_ERROR(WriteDump(flags.dump_dir, graph, options));
  if (!flags.emit.empty()) {
    KILN_ASSIGN_OR_RETURN(const std::string text, EmitStage(graph, options, flags.emit));
    progress.Stop();
    if (!flags.output.empty()) {
      return Apply({.files = {{flags.output, text}}, .inputs = InputFilesOf(flags)});
    }
    return Print(text);
  }
  // Only the archive needs it behind the compiler, which frees what it no longer needs.
  const Graph model = flags.mlf.empty() ? Graph() : graph;
  KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
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
  NoteWhatIsNotTuned(options, compiled.stages.lowered);
  if (flags.output.empty()) return absl::OkStatus();
  NoteStaleFiles(flags.output, options.module_name, artifacts);
  return absl::OkStatus();
}

}  // namespace

void AddCompileCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compile", "Compile a model (Relay text, ONNX or TFLite) into a library");
  auto flags = std::make_shared<CompileFlags>();
  AddCodeOptions(*command, *flags);
  command->add_option("-o,--output", flags->output, "Folder to write to; with --emit, the file");
  command->add_option("--mlf", flags->mlf,
                      "Write an archive of the Model Library Format; needs --runtime crt");
  command->add_flag("--mlf-runtime", flags->mlf_runtime,
                    "Put the C runtime's sources and build files into the archive");
  command->add_flag("--headers,!--no-headers", flags->headers,
                    "Write the runtime's headers that generated C includes beside it (default)");
  command->add_option("--emit", flags->emit,
                      "Print a stage instead: graph, after:<pass> (of the graph, as "
                      "after:fuse, or of loops, as after:vectorize-loops), fused, stages, loops, "
                      "scheduled, plan, c, llvm, asm, graph-json, metadata, header, external");
  command->add_option("--dump-dir", flags->dump_dir,
                      "Write one file per pass and stage to this folder");
  command->footer(
      "Examples:\n"
      "  kiln compile model.onnx -o out --module-name my_mod\n"
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
