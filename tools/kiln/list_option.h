// SPDX-License-Identifier: Apache-2.0
// Options whose value is a list: --cpu-variants x86-64-v2,x86-64-v3.
#ifndef KILN_TOOLS_KILN_LIST_OPTION_H_
#define KILN_TOOLS_KILN_LIST_OPTION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kiln::tools {

// Adds an option to `command` that takes names separated by commas and may be given several times.
// Parsing fails if a name of the list is empty, as in "a,,b". `list` must outlive the command.
CLI::Option* AddListOption(CLI::App& command, const std::string& name,
                           std::vector<std::string>& list, const std::string& description);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LIST_OPTION_H_
