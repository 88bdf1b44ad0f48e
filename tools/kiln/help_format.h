// SPDX-License-Identifier: Apache-2.0
// How help is laid out.
#ifndef KILN_TOOLS_KILN_HELP_FORMAT_H_
#define KILN_TOOLS_KILN_HELP_FORMAT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kiln::tools {

// Two columns, wrapped at words to the terminal's width, or to 80 columns where there is none.
// What an option is by default stands behind its description.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
};

// Puts options, which exist, under headings: {{"Output", {"--output", "--emit"}}}.
void SetGroups(CLI::App& command,
               const std::vector<std::pair<std::string, std::vector<std::string>>>& groups);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_HELP_FORMAT_H_
