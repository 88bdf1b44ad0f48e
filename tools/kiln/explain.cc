// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/explain.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::tools {
namespace {

// Letters to insert, remove or change until one word is the other (Levenshtein's distance).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string Perhaps(const std::string& word, const std::vector<std::string>& names) {
  const auto nearest = std::min_element(
      names.begin(), names.end(),
      [&](const auto& a, const auto& b) { return Distance(word, a) < Distance(word, b); });
  if (nearest == names.end() || Distance(word, *nearest) > std::max<size_t>(1, word.size() / 3)) {
    return "";
  }
  return absl::StrCat(", perhaps '", *nearest, "'");
}

std::vector<std::string> Options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool Is(const CLI::Error& error, CLI::ExitCodes code) {
  return error.get_exit_code() == static_cast<int>(code);
}

// `rest` is what no option or argument has taken.
std::string ExplainUnknown(const CLI::App& app, const std::vector<std::string>& rest,
                           const CLI::Error& error) {
  for (const std::string& argument : rest) {
    if (argument.size() < 2 || argument[0] != '-') continue;
    const std::string word = argument.substr(0, argument.find('='));
    return absl::StrCat("unknown option '", word, "'", Perhaps(word, Options(app)));
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  if (!commands.empty()) {
    const std::string all = absl::StrCat("; there are ", absl::StrJoin(commands, ", "));
    if (rest.empty()) return absl::StrCat("A subcommand is required", all);
    return absl::StrCat("unknown subcommand '", rest[0], "'", Perhaps(rest[0], commands), all);
  }
  if (Is(error, CLI::ExitCodes::ExtrasError) && !rest.empty()) {
    return absl::StrCat("found '", rest[0], "', which is one argument too many");
  }
  return error.what();
}

}  // namespace

std::string ExplainFailure(const CLI::App* app, const CLI::Error& error) {
  // What a subcommand does not know it leaves to the one above.
  const std::vector<std::string> rest = app->remaining(/*recurse=*/true);
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  const bool unknown =
      Is(error, CLI::ExitCodes::ExtrasError) || Is(error, CLI::ExitCodes::RequiredError);
  const std::string text = unknown ? ExplainUnknown(*app, rest, error) : error.what();
  return absl::StrCat("kiln: ", text, absl::EndsWith(text, "\n") ? "" : "\n",
                      "Run with --help for more information.\n");
}

}  // namespace kiln::tools
