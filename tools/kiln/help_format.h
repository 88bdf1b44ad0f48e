// SPDX-License-Identifier: Apache-2.0
// Layout of the help.
#ifndef KILN_TOOLS_KILN_HELP_FORMAT_H_
#define KILN_TOOLS_KILN_HELP_FORMAT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// Two columns, wrapped at words to the width of the terminal, or to 80 columns without one. The
// default of an option follows its description.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
};

// Puts existing options under headings: {{"Output", {"--output", "--emit"}}}.
void SetGroups(CLI::App& command,
               const std::vector<std::pair<std::string, std::vector<std::string>>>& groups);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_HELP_FORMAT_H_
