// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/loaded_model.h"

#include <utility>

#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/c_compiler.h"
#include "tools/kiln/files.h"

namespace kiln::tools {

absl::StatusOr<LoadedModel> LoadedModel::Make(Graph graph, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
  KILN_RETURN_IF_ERROR(LinkParts(options, compiled));
  const std::string name = options.module_name + ".so";
  // A loaded library no longer needs its file.
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  KILN_RETURN_IF_ERROR(WriteFiles(folder.path(), {{name, compiled.artifacts[name]}}));
  LoadedModel loaded;
  KILN_ASSIGN_OR_RETURN(loaded.library_, LoadLibrary(folder.path() + "/" + name));
  loaded.lowered_ = std::move(compiled.compilation.lowered);
  return loaded;
}

}  // namespace kiln::tools
