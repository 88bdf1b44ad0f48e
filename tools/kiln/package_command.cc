// SPDX-License-Identifier: Apache-2.0
// kiln package
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/code_figures.h"
#include "tools/kiln/code_options.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/generated_headers.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/object_report.h"
#include "tools/kiln/progress.h"
#include "tools/kiln/reserved_module.h"
#include "tools/kiln/slow_paths_option.h"
#include "tools/kiln/stale_files.h"
#include "tools/kiln/tuning_option.h"
#include "tools/kiln/widened_weights.h"
#include "tools/package/package.h"

namespace kiln::tools {
namespace {

struct PackageFlags : CodeFlags {
  PackageFlags() {
    runtime = "crt";
    interface = "c";
    codegen = "c";
  }
  PackageRequest request;
  std::string output;
};

// True for systems whose format requires a non-empty URL.
bool NeedsUrl(const std::string& system) { return system == "arduino" || system == "cmsis-pack"; }

// Removes files that are no longer part of the package, and folders that become empty.
void RemoveFiles(const std::vector<std::string>& files) {
  std::error_code error;
  for (const std::string& file : files) {
    std::filesystem::remove(file, error);
    for (std::filesystem::path folder = std::filesystem::path(file).parent_path();
         std::filesystem::is_empty(folder, error) && !error; folder = folder.parent_path()) {
      if (!std::filesystem::remove(folder, error)) break;
    }
  }
}

absl::Status RunPackage(const PackageFlags& flags) {
  KILN_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsOf(flags));
  KILN_RETURN_IF_ERROR(CheckPackage(flags.request, options));
  Progress progress("packaging " + flags.model);
  ImportFindings findings;
  KILN_ASSIGN_OR_RETURN(Graph graph, LoadModel(flags.model, flags.inputs, &findings));
  options.origin = findings.origin;
  // The compiler frees parts of the graph. A copy is needed only for the estimate.
  const Graph model = options.codegen == Codegen::kC ? graph : Graph();
  KILN_ASSIGN_OR_RETURN(const Compiled compiled, Compile(std::move(graph), options));
  KILN_RETURN_IF_ERROR(
      ReportSlowPaths(compiled.compilation.lowered, options.target, flags.fail_on_slow));
  PackagedModel packaged = {.target = options.target,
                            .metadata = compiled.compilation.metadata,
                            .artifacts = compiled.artifacts,
                            .headers = HeadersOf(compiled.artifacts)};
  const auto object = compiled.artifacts.find(options.module_name + ".o");
  if (object != compiled.artifacts.end()) {
    const absl::StatusOr<ObjectFigures> figures = MeasureObject(object->second, {});
    if (figures.ok()) packaged.figures = *figures;
  } else {
    packaged.figures = EstimatedFigures(model, options);
  }
  KILN_ASSIGN_OR_RETURN(const Artifacts files, MakePackage(flags.request, packaged));
  FileChanges changes = {.inputs = InputFilesOf(flags)};
  const std::filesystem::path folder = flags.output;
  for (const auto& [path, bytes] : files)
    changes.files.push_back({(folder / path).string(), bytes});
  const EarlierFiles earlier = FilesOfEarlierPackage(flags.output, files);
  KILN_RETURN_IF_ERROR(Apply(changes));
  RemoveFiles(earlier.as_made);
  progress.Stop();
  for (const std::string& file : earlier.changed) {
    std::fprintf(stderr, "kiln: note: %s was changed and stays\n", file.c_str());
  }
  if (flags.request.url.empty() && NeedsUrl(flags.request.system)) {
    std::fprintf(stderr, "kiln: note: --for %s: a package that is published needs --url\n",
                 flags.request.system.c_str());
  }
  NoteWhatIsNotTuned(options, compiled.compilation.lowered);
  NoteReservedModule(compiled.compilation.metadata);
  NoteWidenedWeights(findings.narrow_weights, compiled.byte_constants);
  NoteStaleFiles(folder / "src", options.module_name, compiled.artifacts);
  return absl::OkStatus();
}

}  // namespace

void AddPackageCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "package", "Compile a model into a module that another build system takes as it is");
  auto flags = std::make_shared<PackageFlags>();
  command->add_option("model", flags->model, "Model file")->required();
  AddCodeOptions(*command, *flags);
  PackageRequest& request = flags->request;
  command
      ->add_option("--for", request.system,
                   absl::StrCat("The build system: ", absl::StrJoin(PackageSystems(), ", ")))
      ->required();
  command->add_option("-o,--output", flags->output, "Folder of the package")->required();
  command->add_option("--package-version", request.version, "Version of the package: three numbers")
      ->capture_default_str();
  command->add_option("--vendor", request.vendor, "Who the package is from: letters, digits, - _")
      ->capture_default_str();
  command->add_option("--url", request.url, "Where the package comes from: https://…");
  SetGroups(*command,
            {{"Package", {"--for", "--output", "--package-version", "--vendor", "--url"}}});
  command->footer(
      "Examples:\n"
      "  kiln package model.onnx --for cmake -o model\n"
      "  kiln package model.onnx --for zephyr --target cortex-m4f -o modules/model\n"
      "  kiln package model.onnx --for arduino --target cortex-m4f -o libraries/model\n"
      "  kiln package model.onnx --for cmsis-pack --target cortex-m55 --codegen llvm -o pack");
  command->callback([flags, &action] { action = [flags] { return RunPackage(*flags); }; });
}

}  // namespace kiln::tools
