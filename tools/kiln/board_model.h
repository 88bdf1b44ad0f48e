// SPDX-License-Identifier: Apache-2.0
// Compiles models for the machine that runs them: this machine, or QEMU if the target is a
// microcontroller with a board.
//
//   KILN_ASSIGN_OR_RETURN(const CompileOptions options, OptionsToRun(flags, "model"));
//   if (options.target.is_baremetal()) {
//     KILN_ASSIGN_OR_RETURN(const mlf::Module module, CompileForBoard(graph, options));
//   }
#ifndef KILN_TOOLS_KILN_BOARD_MODEL_H_
#define KILN_TOOLS_KILN_BOARD_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "mlf/model_library.h"
#include "tools/kiln/model_options.h"

namespace kiln::tools {

// Returns the options of a compilation. For a microcontroller they are those of firmware with the C
// interface. NotFound, with the targets that have a board, for a microcontroller without one.
absl::StatusOr<CompileOptions> OptionsToRun(const ModelFlags& flags, std::string module_name);

// Compiles the module that the firmware of validate calls (tools/validate/board_run.h).
absl::StatusOr<mlf::Module> CompileForBoard(const Graph& graph, const CompileOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BOARD_MODEL_H_
