// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/help_format.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/terminal/terminal.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr size_t kNameColumns = 28;
constexpr int kDefaultColumns = 80, kLeastColumns = 50, kMostColumns = 120;

size_t Columns() {
  const int columns = TerminalColumns(STDOUT_FILENO);
  return static_cast<size_t>(columns == 0 ? kDefaultColumns
                                          : std::clamp(columns, kLeastColumns, kMostColumns));
}

// Returns a name and its description. A name that is too long has its own line.
std::string Entry(const std::string& name, const std::string& description) {
  std::string entry = absl::StrCat("  ", name);
  const size_t width = ColumnsOf(entry);
  absl::StrAppend(&entry, width + 2 > kNameColumns
                              ? absl::StrCat("\n", std::string(kNameColumns, ' '))
                              : std::string(kNameColumns - width, ' '));
  return absl::StrCat(entry, Wrapped(description, kNameColumns, Columns()), "\n");
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  const bool takes_value = option->get_type_size() != 0;
  if (takes_value && !is_positional) absl::StrAppend(&name, " ", option->get_type_name());
  std::string description = option->get_description();
  const std::string otherwise = option->get_default_str();
  if (takes_value && !otherwise.empty()) absl::StrAppend(&description, " [", otherwise, "]");
  if (option->get_required()) absl::StrAppend(&description, " (required)");
  return Entry(name, description);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Entry(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  std::string text;
  // Indented lines are examples and are not wrapped.
  for (absl::string_view line : absl::StrSplit(app->get_description(), '\n')) {
    absl::StrAppend(
        &text, absl::StartsWith(line, " ") ? std::string(line) : Wrapped(line, 0, Columns()), "\n");
  }
  return text;
}

void SetGroups(CLI::App& command,
               const std::vector<std::pair<std::string, std::vector<std::string>>>& groups) {
  for (const auto& [group, options] : groups) {
    for (const std::string& option : options) command.get_option(option)->group(group);
  }
}

}  // namespace kiln::tools
