// SPDX-License-Identifier: Apache-2.0
// The subcommands of the command line tool. Each adds itself to the application and sets `action`
// when it is chosen; the action returns the status that becomes the exit status: 0, 2 for the
// user's fault, 1 for Kiln's, or for a comparison that fails (Aborted).
#ifndef KILN_TOOLS_KILN_COMMANDS_H_
#define KILN_TOOLS_KILN_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "absl/status/status.h"

namespace kiln::tools {

using Action = std::function<absl::Status()>;

void AddCompileCommand(CLI::App& app, Action& action);
void AddRunCommand(CLI::App& app, Action& action);
void AddValidateCommand(CLI::App& app, Action& action);
void AddBenchCommand(CLI::App& app, Action& action);
void AddTuneCommand(CLI::App& app, Action& action);
void AddCompareCommand(CLI::App& app, Action& action);
void AddQuantizeCommand(CLI::App& app, Action& action);
void AddInspectCommand(CLI::App& app, Action& action);
void AddBudgetCommand(CLI::App& app, Action& action);
// `sign` and `verify`.
void AddSignatureCommands(CLI::App& app, Action& action);
void AddPackageCommand(CLI::App& app, Action& action);
void AddMlfCommand(CLI::App& app, Action& action);
void AddCheckOnnxCommand(CLI::App& app, Action& action);
void AddImportCheckCommand(CLI::App& app, Action& action);
void AddTargetsCommand(CLI::App& app, Action& action);
void AddDoctorCommand(CLI::App& app, Action& action);
// These two are about the application with all its subcommands.
void AddCompletionCommand(CLI::App& app, Action& action);
void AddManCommand(CLI::App& app, Action& action);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_COMMANDS_H_
