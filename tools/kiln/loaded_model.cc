// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/loaded_model.h"

#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "compiler/base/status.h"
#include "tools/kiln/c_compiler.h"
#include "tools/kiln/files.h"
#include "tools/kiln/run_program.h"

namespace kiln::tools {

absl::StatusOr<LoadedModel> LoadedModel::Make(Graph graph, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
  KILN_RETURN_IF_ERROR(LinkParts(options, compiled.artifacts));
  const std::string name = options.module_name + ".so";
  KILN_ASSIGN_OR_RETURN(const std::string folder, TemporaryFolder());
  // What is loaded needs its file no more.
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  };
  KILN_RETURN_IF_ERROR(WriteFiles(folder, {{name, compiled.artifacts[name]}}));
  LoadedModel loaded;
  KILN_ASSIGN_OR_RETURN(loaded.library_, LoadLibrary(folder + "/" + name));
  loaded.lowered_ = std::move(compiled.stages.lowered);
  return loaded;
}

}  // namespace kiln::tools
