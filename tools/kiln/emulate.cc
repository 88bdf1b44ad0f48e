// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/emulate.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "tools/firmware/cycles.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

constexpr std::streamsize kMaxOutputBytes = 1 << 20;
constexpr size_t kMaxShownBytes = 2000;

// Returns the first kMaxOutputBytes of a file, which may be empty.
std::string Beginning(const std::string& path) {
  std::string text(static_cast<size_t>(kMaxOutputBytes), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), kMaxOutputBytes);
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

// Returns the core of the QEMU machine in `argv`. Empty if no word names a machine whose core has
// known cycles.
std::string CoreOfMachine(const std::vector<std::string>& argv) {
  static const auto& cores = *new std::map<std::string, std::string>{
      {"mps2-an385", "cortex-m3"},  {"mps2-an386", "cortex-m4"},  {"mps2-an500", "cortex-m7"},
      {"mps2-an505", "cortex-m33"}, {"mps2-an521", "cortex-m33"}, {"mps3-an547", "cortex-m55"}};
  for (const std::string& word : argv) {
    if (const auto core = cores.find(word); core != cores.end()) return core->second;
  }
  return "";
}

absl::Status CheckCore(const std::string& core) {
  if (CyclesOfCore(core.c_str()) != nullptr) return absl::OkStatus();
  std::vector<std::string> known;
  for (const char* const* name = CoresWithCycles(); *name != nullptr; ++name) {
    known.emplace_back(*name);
  }
  return absl::InvalidArgumentError(absl::StrCat("--target: found the core '", core,
                                                 "', whose cycles are not known, wanted one of ",
                                                 absl::StrJoin(known, ", ")));
}

// Adds the output of the plugin: a line of two numbers, instructions and cycles, for each
// inference.
absl::Status AddCounts(const std::string& lines, EmulatedRun& run) {
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> numbers = absl::StrSplit(line, ' ');
    int64_t cycles = 0;
    if (!absl::SimpleAtoi(numbers.first, &run.instructions.emplace_back()) ||
        !absl::SimpleAtoi(numbers.second, &cycles)) {
      return absl::InternalError(absl::StrCat("the plugin of the emulator wrote '", line, "'"));
    }
    if (!run.core.empty()) run.cycles.push_back(cycles);
  }
  return absl::OkStatus();
}

// Returns "7", or "7 to 9".
std::string RangeText(const std::vector<int64_t>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return *least == *most ? absl::StrCat(*least) : absl::StrCat(*least, " to ", *most);
}

}  // namespace

absl::StatusOr<EmulatedRun> Emulate(absl::string_view emulator, const std::string& image,
                                    int timeout_seconds, std::string core) {
  std::vector<std::string> argv = absl::StrSplit(emulator, ' ', absl::SkipWhitespace());
  if (argv.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: found nothing, wanted a program and its arguments");
  }
  if (core.empty()) {
    core = CoreOfMachine(argv);
  } else {
    KILN_RETURN_IF_ERROR(CheckCore(core));
  }
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string plugin = folder.path() + "/plugin.so", counts = folder.path() + "/counts",
                    log = folder.path() + "/log";
  std::ofstream(plugin, std::ios::binary) << EmulatorPlugin().begin()->second;
  const std::string of_core = core.empty() ? "" : ",core=" + core;
  argv.insert(argv.end(),
              {"-kernel", image, "-plugin", absl::StrCat(plugin, ",out=", counts, of_core)});
  const absl::StatusOr<int> ran = RunProgram(argv, log, timeout_seconds);
  if (!ran.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--emulator: '", argv[0], "' cannot be run: ", ran.status().message()));
  }
  const int status = *ran;
  EmulatedRun run;
  run.core = std::move(core);
  run.output = Beginning(log);
  if (status != 0) {
    const std::string what = status == kNoEnd
                                 ? absl::StrCat("does not end within ", timeout_seconds, " s")
                                 : absl::StrCat("ends with status ", status, ", wanted 0");
    return absl::InvalidArgumentError(
        absl::StrCat(image, ": ", what, ":\n", run.output.substr(0, kMaxShownBytes)));
  }
  KILN_RETURN_IF_ERROR(AddCounts(Beginning(counts), run));
  if (run.instructions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        image,
        ": calls of BeginInference and EndInference, between which instructions are counted, "
        "were not found; they must be functions that are not inlined"));
  }
  return run;
}

std::string EmulatedText(const EmulatedRun& run) {
  std::string text = absl::StrCat("instructions: ", RangeText(run.instructions), " in each of ",
                                  run.instructions.size(),
                                  run.instructions.size() == 1 ? " inference\n" : " inferences\n");
  if (run.cycles.empty()) return text;
  return absl::StrCat(text, "estimated cycles: ", RangeText(run.cycles), " of a ", run.core,
                      ", with memory that never waits\n");
}

std::string EmulatedJson(const EmulatedRun& run) {
  nlohmann::ordered_json json = {{"instructions", run.instructions}};
  if (!run.cycles.empty()) {
    json["cycles"] = run.cycles;
    json["core"] = run.core;
  }
  json["output"] = run.output;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
