// SPDX-License-Identifier: Apache-2.0
// kiln man
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/base/kiln_version.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

// Returns a text as lines of roff, escaped so that no line is a request. The ellipsis is the only
// character beyond ASCII in the help.
std::string Roff(absl::string_view text) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool is_request = absl::StartsWith(line, ".") || absl::StartsWith(line, "'");
    absl::StrAppend(&lines, is_request ? "\\&" : "",
                    absl::StrReplaceAll(line, {{"\\", "\\e"}, {"-", "\\-"}, {"…", "\\&..."}}),
                    "\n");
  }
  return lines;
}

std::string OptionText(const CLI::Option& option) {
  const bool is_flag = option.get_items_expected_max() == 0;
  std::string name =
      absl::StrCat("\\fB", absl::StrReplaceAll(option.get_name(), {{"-", "\\-"}}), "\\fR");
  if (!is_flag && option.nonpositional()) {
    absl::StrAppend(&name, " \\fI", absl::AsciiStrToLower(option.get_type_name()), "\\fR");
  }
  return absl::StrCat(".TP\n", name, "\n", Roff(option.get_description()));
}

// Returns a command with its options and its subcommands.
std::string CommandText(const CLI::App& command, const std::string& above) {
  const std::string name = absl::StrCat(above, " ", command.get_name());
  std::string text = absl::StrCat(".SS ", name, "\n", Roff(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (!absl::StartsWith(option->get_name(), "--help")) {
      absl::StrAppend(&text, OptionText(*option));
    }
  }
  if (!command.get_footer().empty()) {
    absl::StrAppend(&text, ".PP\n.nf\n", Roff(command.get_footer()), ".fi\n");
  }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&text, CommandText(*below, name));
  }
  return text;
}

std::string ManPage(const CLI::App& app) {
  std::string commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&commands, CommandText(*command, app.get_name()));
  }
  return absl::StrCat(".TH KILN 1 \"\" \"kiln ", kKilnVersion, "\" \"User Commands\"\n",
                      ".SH NAME\nkiln \\- compile trained neural networks into libraries\n",
                      ".SH SYNOPSIS\n.B kiln\n.I command\n.RI [ options ]\n",
                      ".SH DESCRIPTION\n.nf\n", Roff(app.get_description()), ".fi\n",
                      ".SH COMMANDS\n", commands,
                      ".SH EXIT STATUS\n"
                      "0: success. 1: what was compared is not the same, or an error of kiln or of "
                      "the system. 2: the "
                      "model or an option is wrong.\n");
}

}  // namespace

void AddManCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page kiln(1)");
  command->footer("Examples:\n  kiln man | man -l -");
  command->callback([&app, &action] { action = [&app] { return Print(ManPage(app)); }; });
}

}  // namespace kiln::tools
