// SPDX-License-Identifier: Apache-2.0
// kiln completion
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/target/target.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

// A bash function. {{…}} is replaced.
constexpr char kFunction[] = R"(_kiln() {
  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" options="" words="" i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ "${COMP_WORDS[i]}" == -* ]] && continue
    command="${COMP_WORDS[i]}"
    break
  done
  case "$command" in
{{commands}}  esac
  [[ "$word" == -* ]] && words="$options"
  [[ "$previous" == --target ]] && words="{{targets}}"
  if [[ -n "$words" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _kiln kiln
)";

constexpr char kZsh[] = "#compdef kiln\nautoload -Uz bashcompinit && bashcompinit\n";

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Returns a branch of the function: options and words that may follow the command `name`.
std::string Branch(const std::string& name, const CLI::App& app,
                   const std::vector<std::string>& words) {
  std::vector<std::string> options = OptionsOf(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (name.empty()) break;
    for (std::string& option : OptionsOf(*command)) options.push_back(std::move(option));
  }
  return absl::StrCat("    \"", name, "\") options=\"", absl::StrJoin(options, " "), "\" words=\"",
                      absl::StrJoin(words, " "), "\" ;;\n");
}

// Quotes a text in single quotes for fish.
std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// Returns the line for fish that offers an option after the words that `condition` names.
std::string FishOption(const std::string& condition, const CLI::Option& option) {
  if (option.get_lnames().empty()) return "";
  std::string line =
      absl::StrCat("complete -c kiln -n ", FishQuoted(condition), " -l ",
                   option.get_lnames().front(), " -d ", FishQuoted(option.get_description()));
  if (option.get_items_expected_max() > 0) absl::StrAppend(&line, " -r");
  if (option.get_lnames().front() == "target") {
    absl::StrAppend(&line, " -f -a ", FishQuoted(absl::StrJoin(ListTargets(), " ")));
  }
  return line + "\n";
}

// Returns the lines for fish with the subcommands and options of `app`. `condition` names the words
// before them.
std::string FishLines(const CLI::App& app, const std::string& condition) {
  std::string lines;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&lines, "complete -c kiln -f -n ", FishQuoted(condition), " -a ",
                    command->get_name(), " -d ", FishQuoted(command->get_description()), "\n");
  }
  for (const CLI::Option* option : app.get_options()) {
    absl::StrAppend(&lines, FishOption(condition, *option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&lines, FishLines(*command, absl::StrCat("__fish_seen_subcommand_from ",
                                                             command->get_name())));
  }
  return lines;
}

absl::Status PrintCompletion(const CLI::App& app, const std::string& shell) {
  if (shell == "fish") return Print(FishLines(app, "__fish_use_subcommand"));
  std::string branches = Branch("", app, CommandsOf(app));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    const std::vector<std::string> words = name == "help" ? CommandsOf(app)
                                           : name == "completion"
                                               ? std::vector<std::string>{"bash", "fish", "zsh"}
                                               : CommandsOf(*command);
    absl::StrAppend(&branches, Branch(name, *command, words));
  }
  const std::string function = absl::StrReplaceAll(
      kFunction, {{"{{commands}}", branches}, {"{{targets}}", absl::StrJoin(ListTargets(), " ")}});
  return Print(absl::StrCat(shell == "zsh" ? kZsh : "", function));
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes command lines in a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, fish or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "fish", "zsh"}));
  command->footer(
      "Examples:\n"
      "  source <(kiln completion bash)\n"
      "  kiln completion fish > ~/.config/fish/completions/kiln.fish\n"
      "  kiln completion zsh > ~/.zfunc/_kiln");
  command->callback(
      [shell, &app, &action] { action = [shell, &app] { return PrintCompletion(app, *shell); }; });
}

}  // namespace kiln::tools
