// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/machine_rows.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/terminal/terminal.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

// Returns the names of the known targets that use the row. The first is the host, if it does.
std::vector<std::string> TargetsWith(const Machine& machine) {
  std::vector<std::string> names = ListTargets();
  names.insert(names.begin(), "host");
  std::erase_if(names, [&](const std::string& name) {
    const absl::StatusOr<Target> target = Target::Parse(name);
    return !target.ok() || target->machine != &machine;
  });
  return names;
}

std::vector<std::string> ProcessorsOf(const Machine& machine) {
  return absl::StrSplit(machine.cpus, ',', absl::SkipEmpty());
}

}  // namespace

std::string MachineText(const Machine& machine) {
  return absl::StrCat(machine.name, " (", machine.measured_on, ")");
}

nlohmann::ordered_json MachineJson(const Machine& machine) {
  return {{"name", std::string(machine.name)}, {"measured_on", std::string(machine.measured_on)}};
}

std::string MachineLines(const std::vector<Target>& targets) {
  std::string lines;
  const int columns = TerminalColumns(STDOUT_FILENO);  // 0: not a terminal
  for (const Target& target : targets) {
    const std::string name =
        absl::StrCat("machine", targets.size() > 1 ? " of " + target.name : "", ": ");
    const std::string text = MachineText(*target.machine);
    absl::StrAppend(&lines, name,
                    columns == 0 ? text : Wrapped(text, name.size(), static_cast<size_t>(columns)),
                    "\n");
  }
  return lines;
}

nlohmann::ordered_json MachineLinesJson(const std::vector<Target>& targets) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Target& target : targets) {
    nlohmann::ordered_json row = {{"target", target.name}};
    row.update(MachineJson(*target.machine));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Target> TargetsOf(const proto::Metadata& metadata) {
  std::vector<std::string> names = {metadata.cpu_variants().begin(), metadata.cpu_variants().end()};
  if (names.empty()) names.push_back(metadata.target());
  std::vector<Target> targets;
  for (const std::string& name : names) {
    absl::StatusOr<Target> target = Target::Parse(name);
    if (!target.ok() || absl::StartsWith(name, "host")) return {};
    targets.push_back(*std::move(target));
  }
  return targets;
}

Table MachineTable() {
  Table table({"machine", "--target", "-mcpu=", "measured on"});
  for (const Machine* machine : Machines()) {
    table.Add({std::string(machine->name), absl::StrJoin(TargetsWith(*machine), ", "),
               absl::StrJoin(ProcessorsOf(*machine), ", "), std::string(machine->measured_on)});
  }
  return table;
}

nlohmann::ordered_json MachineTableJson() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Machine* machine : Machines()) {
    nlohmann::ordered_json row = MachineJson(*machine);
    row["targets"] = TargetsWith(*machine);
    row["processors"] = ProcessorsOf(*machine);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kiln::tools
