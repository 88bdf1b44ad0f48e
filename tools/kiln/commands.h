// SPDX-License-Identifier: Apache-2.0
// Subcommands of the command line tool. Each function adds a subcommand to the application. A
// selected subcommand sets `action`, whose status becomes the exit status: 0 for success; 2 for
// errors of the user; 1 for errors of Kiln and for failed comparisons (Aborted).
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
// Adds `sign` and `verify`.
void AddSignatureCommands(CLI::App& app, Action& action);
void AddPackageCommand(CLI::App& app, Action& action);
void AddMlfCommand(CLI::App& app, Action& action);
void AddCheckOnnxCommand(CLI::App& app, Action& action);
void AddImportCheckCommand(CLI::App& app, Action& action);
void AddTargetsCommand(CLI::App& app, Action& action);
void AddDoctorCommand(CLI::App& app, Action& action);
// These two list the application with all its subcommands.
void AddCompletionCommand(CLI::App& app, Action& action);
void AddManCommand(CLI::App& app, Action& action);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_COMMANDS_H_
