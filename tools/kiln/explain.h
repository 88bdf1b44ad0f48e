// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_EXPLAIN_H_
#define KILN_TOOLS_KILN_EXPLAIN_H_

#include <CLI/CLI.hpp>
#include <string>

namespace kiln::tools {

// What is wrong with a command line that CLI11 has refused: names the word that it does not know,
// what is near to it, and what there is. For App::failure_message.
std::string ExplainFailure(const CLI::App* app, const CLI::Error& error);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_EXPLAIN_H_
