// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_EXPLAIN_H_
#define KILN_TOOLS_KILN_EXPLAIN_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln::tools {

// Returns an error message for a command line that CLI11 has refused: the unknown word, similar
// words, and the known ones. For App::failure_message.
std::string ExplainFailure(const CLI::App* app, const CLI::Error& error);

// InvalidArgument if an option of a parsed command line has an empty value. No option accepts one.
absl::Status CheckValues(const CLI::App& app);

// Returns the output of `kiln help COMMAND…`; without commands, the help of the application.
// InvalidArgument, with the known names, for an unknown one.
absl::StatusOr<std::string> HelpOf(CLI::App& app, const std::vector<std::string>& commands);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_EXPLAIN_H_
