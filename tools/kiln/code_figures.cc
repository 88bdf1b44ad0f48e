// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/code_figures.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "tools/firmware/board.h"
#include "tools/kiln/files.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

constexpr int64_t kMaxObjectBytes = int64_t{1} << 30;

// True for Arm and RISC-V. LLVM knows further targets, such as Xtensa, but cannot compile for all
// of them.
bool IsMicrocontroller(const Target& target) {
  return absl::StartsWith(target.triple, "thumb") || absl::StartsWith(target.triple, "arm") ||
         absl::StartsWith(target.triple, "riscv");
}

}  // namespace

std::optional<ObjectFigures> CodeFigures(const Compilation& compilation,
                                         const CompileOptions& options) {
  if (!IsMicrocontroller(options.target) || options.codegen != Codegen::kLlvm) return std::nullopt;
  const absl::StatusOr<Artifacts> code = EmitCode(compilation.program, options);
  if (!code.ok()) return std::nullopt;
  const absl::StatusOr<ObjectFigures> figures =
      MeasureObject(code->at(options.module_name + ".o"), {});
  return figures.ok() ? std::make_optional(*figures) : std::nullopt;
}

absl::StatusOr<ObjectFigures> CompiledFigures(const Compilation& compilation,
                                              const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Board board, FindBoard(options.target.name));
  KILN_ASSIGN_OR_RETURN(const Artifacts code, EmitCode(compilation.program, options));
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  std::map<std::string, std::string> files = RuntimeHeaders();
  files["model.c"] = code.at(options.module_name + ".c");
  KILN_RETURN_IF_ERROR(WriteFiles(folder.path(), files));
  const std::string model = folder.path() + "/model";
  std::vector<std::string> argv = {board.compiler + "-gcc"};
  argv.insert(argv.end(), board.flags.begin(), board.flags.end());
  argv.insert(argv.end(),
              {"-O2", "-std=gnu99", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections",
               "-fstack-usage", "-I" + folder.path(), "-c", model + ".c", "-o", model + ".o"});
  const absl::StatusOr<int> status = RunProgram(argv, folder.path() + "/gcc.log");
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", argv[0], "' makes the code of C, and cannot be run: ", status.status().message(),
        "; on Debian install ", PackageOf(argv[0])));
  }
  if (*status != 0) {
    return absl::InternalError(absl::StrCat("'", argv[0], "' does not compile the model"));
  }
  KILN_ASSIGN_OR_RETURN(const std::string object, ReadFile(model + ".o", kMaxObjectBytes));
  KILN_ASSIGN_OR_RETURN(const std::string usage, ReadFile(model + ".su", kMaxObjectBytes));
  KILN_ASSIGN_OR_RETURN(auto stack_usage, ParseStackUsage(usage, "model.su"));
  return MeasureObject(object, std::move(stack_usage));
}

std::optional<ObjectFigures> EstimatedFigures(const Graph& graph, CompileOptions options) {
  if (!HasCodegen(Codegen::kLlvm) || !IsMicrocontroller(options.target)) return std::nullopt;
  options.codegen = Codegen::kLlvm;
  const absl::StatusOr<Compilation> compilation = RunStages(graph, options);
  return compilation.ok() ? CodeFigures(*compilation, options) : std::nullopt;
}

}  // namespace kiln::tools
