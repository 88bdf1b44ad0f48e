// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/board_model.h"

#include <utility>

#include "compiler/base/status.h"
#include "compiler/pipeline/compile.h"
#include "tools/firmware/board.h"
#include "tools/kiln/model_library.h"

namespace kiln::tools {

absl::StatusOr<CompileOptions> OptionsToRun(const ModelFlags& flags, std::string module_name) {
  CompileOptions options{.module_name = std::move(module_name)};
  KILN_RETURN_IF_ERROR(ApplyModelFlags(flags, options));
  if (options.target.is_baremetal()) {
    options.runtime = Runtime::kCrt;
    options.interface = Interface::kC;
    KILN_RETURN_IF_ERROR(FindBoard(options.target.name).status());
  }
  options.calling_convention =
      DefaultCallingConvention(options.runtime, options.interface, options.externals);
  KILN_RETURN_IF_ERROR(CheckOptions(options));
  return options;
}

absl::StatusOr<mlf::Module> CompileForBoard(const Graph& graph, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Compiled compiled, Compile(graph, options));
  KILN_ASSIGN_OR_RETURN(mlf::ModelLibrary library, ModelLibraryOf(graph, compiled, false));
  return std::move(library.modules.front());
}

}  // namespace kiln::tools
