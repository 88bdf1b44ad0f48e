// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/dump_stages.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/emit_stage.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "tools/kiln/files.h"

namespace kiln::tools {

absl::Status DumpStages(const std::string& folder, const Graph& graph,
                        const CompileOptions& options) {
  std::map<std::string, std::string> files;
  files["00-graph.relay"] = PrintRelay(graph);
  CompileOptions dumping = options;
  dumping.passes.after = [&](absl::string_view name, const Graph& result) {
    files[absl::StrCat(absl::Dec(files.size(), absl::kZeroPad2), "-", name, ".relay")] =
        PrintRelay(result);
  };
  const absl::Status status = [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, dumping));
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
    KILN_RETURN_IF_ERROR(CodeProgram(compilation.program, coding).status());
    add("metadata", MetadataJson(compilation.metadata));
    KILN_ASSIGN_OR_RETURN(std::string header, ModelHeader(compilation.metadata));
    add("header", std::move(header));
    std::vector<const char*> forms = {"c"};
    if (options.codegen == Codegen::kLlvm) forms.insert(forms.end(), {"llvm", "asm"});
    for (const char* form : forms) {
      KILN_ASSIGN_OR_RETURN(std::string text, EmitCodeText(compilation.program, options, form));
      add(form, std::move(text));
    }
    return absl::OkStatus();
  }();
  KILN_RETURN_IF_ERROR(WriteFiles(folder, files));
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\nthe stages before are in ", folder));
}

}  // namespace kiln::tools
