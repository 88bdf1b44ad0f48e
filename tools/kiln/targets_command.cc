// SPDX-License-Identifier: Apache-2.0
// kiln targets
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/target/target.h"
#include "tools/kiln/chips.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/machine_rows.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/table.h"
#include "tools/terminal/terminal.h"

namespace kiln::tools {
namespace {

std::string FamiliesOf(const Chip& chip) {
  return absl::StrJoin(absl::StrSplit(chip.family, ' '), ", ");
}

// Returns one row of a table in Markdown.
std::string Row(const Chip& chip) {
  return absl::StrCat("| ", FamiliesOf(chip), " | ", chip.core, " | `", chip.target, "` | ",
                      chip.note, *chip.note == '\0' ? "|" : " |", "\n");
}

nlohmann::ordered_json JsonOfChip(const Chip& chip) {
  const std::vector<std::string> families = absl::StrSplit(chip.family, ' ');
  return {{"chips", families}, {"core", chip.core}, {"target", chip.target}, {"note", chip.note}};
}

absl::Status PrintTargetsJson(const Chip* wanted) {
  if (wanted != nullptr) return PrintJson(JsonOfChip(*wanted));
  nlohmann::ordered_json json = {{"targets", {"host"}}, {"chips", nlohmann::ordered_json::array()}};
  for (const auto& target : ListTargets()) json["targets"].push_back(std::string(target));
  for (const Chip& chip : Chips()) json["chips"].push_back(JsonOfChip(chip));
  json["machines"] = MachineTableJson();
  return PrintJson(json);
}

absl::Status PrintTargets(const std::string& part, bool markdown, bool json) {
  const Chip* const wanted = part.empty() ? nullptr : FindChip(part);
  if (!part.empty() && wanted == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("targets: no chip is known by '", part,
                     "'; kiln targets lists all, and docs/targets.md says "
                     "how to find the target of another"));
  }
  if (json) return PrintTargetsJson(wanted);
  if (markdown) {
    std::string rows;
    for (const Chip& chip : Chips()) absl::StrAppend(&rows, Row(chip));
    return Print(rows);
  }
  Table table({"chip", "core", "--target", "note"});
  for (const Chip& chip : Chips()) {
    if (wanted == nullptr || wanted == &chip) {
      table.Add({FamiliesOf(chip), chip.core, chip.target, chip.note});
    }
  }
  const int columns = TerminalColumns(STDOUT_FILENO);
  const std::string rows = table.ToString(columns);
  if (wanted != nullptr) return Print(rows);
  return Print(absl::StrCat("targets: host, ", absl::StrJoin(ListTargets(), ", "), "\n\n", rows,
                            "\n", MachineTable().ToString(columns)));
}

}  // namespace

void AddTargetsCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("targets", "List the values of --target, and which one a chip has");
  auto part = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  command->add_option("chip", *part, "A part number, such as stm32f407");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "Print the rows of docs/targets.md");
  command->add_flag("--json", *json, "Print one JSON object: of a chip, or of all");
  command->footer("Examples:\n  kiln targets\n  kiln targets stm32f407\n  kiln targets esp32-c3");
  command->callback([part, markdown, json, &action] {
    action = [part, markdown, json] { return PrintTargets(*part, *markdown, *json); };
  });
}

}  // namespace kiln::tools
