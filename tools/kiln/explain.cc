// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/explain.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/base/nearest.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

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

// Suggests a command. Other tools have a command `profile`, which is an option of bench here.
std::string PerhapsCommand(const std::string& word, const std::vector<std::string>& commands) {
  return word == "profile" ? ", perhaps 'bench --profile'" : Perhaps(word, commands);
}

// `rest` contains the arguments that no option or positional argument accepted.
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
    return absl::StrCat("unknown subcommand '", rest[0], "'", PerhapsCommand(rest[0], commands),
                        all);
  }
  if (Is(error, CLI::ExitCodes::ExtrasError) && !rest.empty()) {
    return absl::StrCat("found '", rest[0], "', which is one argument too many");
  }
  return error.what();
}

// CLI11's message is "Could not convert: --threads = abc".
std::string ExplainConversion(const CLI::App& app, const CLI::Error& error) {
  absl::string_view text = error.what();
  const size_t at = text.find(" = ");
  if (!absl::ConsumePrefix(&text, "Could not convert: ") || at == absl::string_view::npos) {
    return error.what();
  }
  const std::string name(text.substr(0, text.find(" = ")));
  const std::string value(text.substr(name.size() + 3));
  const CLI::Option* const option = app.get_option_no_throw(name);
  const std::string type = option == nullptr ? "" : option->get_type_name();
  const char* const wanted = type == "FLOAT" ? "a number" : "a whole number that is not too large";
  return absl::StrCat(name, ": found '", value, "', wanted ", wanted);
}

}  // namespace

absl::Status CheckValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.empty()) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(option->get_name(), ": found an empty text, wanted a value"));
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (absl::Status status = CheckValues(*command); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> HelpOf(CLI::App& app, const std::vector<std::string>& commands) {
  CLI::App* command = &app;
  std::string above;
  for (const std::string& name : commands) {
    above = above.empty() ? app.get_name() : absl::StrCat(above, " ", command->get_name());
    std::vector<std::string> names;
    CLI::App* below = nullptr;
    for (CLI::App* known : command->get_subcommands([](CLI::App*) { return true; })) {
      names.push_back(known->get_name());
      if (known->get_name() == name) below = known;
    }
    if (below == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("help: unknown subcommand '", name, "'",
                                                     PerhapsCommand(name, names), "; there are ",
                                                     absl::StrJoin(names, ", ")));
    }
    command = below;
  }
  // Without clear(), the application would delegate to the running subcommand.
  if (command == &app) app.clear();
  return command->help(above);
}

std::string ExplainFailure(const CLI::App* app, const CLI::Error& error) {
  // A subcommand passes unknown arguments to its parent.
  const std::vector<std::string> rest = app->remaining(/*recurse=*/true);
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  const bool unknown =
      Is(error, CLI::ExitCodes::ExtrasError) || Is(error, CLI::ExitCodes::RequiredError);
  const std::string text =
      Shortened(Is(error, CLI::ExitCodes::ConversionError) ? ExplainConversion(*app, error)
                : unknown                                  ? ExplainUnknown(*app, rest, error)
                                                           : error.what());
  return absl::StrCat("kiln: ", text, absl::EndsWith(text, "\n") ? "" : "\n",
                      "Run with --help for more information.\n");
}

}  // namespace kiln::tools
