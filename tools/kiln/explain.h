// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_EXPLAIN_H_
#define KILN_TOOLS_KILN_EXPLAIN_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln::tools {

// What is wrong with a command line that CLI11 has refused: names the word that it does not know,
// what is near to it, and what there is. For App::failure_message.
std::string ExplainFailure(const CLI::App* app, const CLI::Error& error);

// InvalidArgument if an option of a command line that has been parsed has an empty text as its
// value, which means nothing for any of them.
absl::Status CheckValues(const CLI::App& app);

// What `kiln help COMMAND…` prints; without commands, the help of the application. InvalidArgument,
// with the names that there are, for another name.
absl::StatusOr<std::string> HelpOf(CLI::App& app, const std::vector<std::string>& commands);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_EXPLAIN_H_
