// SPDX-License-Identifier: Apache-2.0
// kiln doctor
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/target/target.h"
#include "tools/firmware/board.h"
#include "tools/kiln/build_facts.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/machine_rows.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/table.h"
#include "tools/terminal/terminal.h"

namespace kiln::tools {
namespace {

struct Program {
  std::string name;
  std::string purpose;
  std::string package;  // of Debian
};

// Returns the programs that Kiln may run, without duplicates.
std::vector<Program> Programs() {
  std::vector<Program> programs = {{"cc",
                                    HasCodegen(Codegen::kLlvm)
                                        ? "shared objects of --codegen c and --external csource"
                                        : "shared objects",
                                    "gcc"}};
  std::set<std::string> known;
  for (const Board& board : Boards()) {
    const std::string compiler = board.compiler + "-gcc";
    const std::string emulator = board.emulator.substr(0, board.emulator.find(' '));
    for (const std::string& name : {compiler, emulator}) {
      if (!known.insert(name).second) continue;
      programs.push_back({name,
                          name == compiler ? "firmware of C, validate --target"
                                           : "validate --target, inspect --emulator",
                          PackageOf(name)});
    }
  }
  return programs;
}

// Returns the program's path on PATH; empty if there is none.
std::string PathOf(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    std::string file = absl::StrCat(folder, "/", program);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

absl::Status PrintDoctor() {
  KILN_RETURN_IF_ERROR(Print(absl::StrCat(
      BuildFacts(), "\nmachine of the host: ", MachineText(*Target::Host().machine), "\n\n")));
  Table table({"program", "for", "found"});
  std::string missing;
  for (const Program& program : Programs()) {
    const std::string path = PathOf(program.name);
    table.Add({program.name, program.purpose, path.empty() ? "missing" : path});
    if (path.empty()) {
      absl::StrAppend(&missing, program.name, " is missing: on Debian install ", program.package,
                      "\n");
    }
  }
  KILN_RETURN_IF_ERROR(Print(table.ToString(TerminalColumns(STDOUT_FILENO)) + "\n"));
  if (missing.empty()) return Print("Nothing is missing.\n", Style::kGreen);
  return Print(missing, Style::kYellow);
}

absl::Status PrintDoctorJson() {
  nlohmann::ordered_json json = BuildFactsJson();
  json["machine"] = MachineJson(*Target::Host().machine);
  json["programs"] = nlohmann::ordered_json::array();
  for (const Program& program : Programs()) {
    const std::string path = PathOf(program.name);
    nlohmann::ordered_json row = {{"name", program.name}, {"purpose", program.purpose}};
    row["path"] = path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(path);
    row["debian_package"] = program.package;
    json["programs"].push_back(std::move(row));
  }
  return PrintJson(json);
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Show what is built in and installed, and which package gives what is missing");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json,
                    "Print one JSON object; the path of a missing program is null");
  command->footer("Examples:\n  kiln doctor\n  kiln doctor --json");
  command->callback(
      [json, &action] { action = [json] { return *json ? PrintDoctorJson() : PrintDoctor(); }; });
}

}  // namespace kiln::tools
