// SPDX-License-Identifier: Apache-2.0
#include "tools/firmware/run_image.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "tools/firmware/board.h"
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
  for (const Board& board : Boards()) {
    for (const std::string& machine : board.machines) {
      if (absl::c_linear_search(argv, machine)) return board.core;
    }
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
// inference. InvalidArgument if there is none, or if the program has failed.
absl::Status AddCounts(const std::string& lines, const std::string& image,
                       const RunOptions& options, EmulatedRun& run) {
  if (run.status != 0) {
    const std::string what =
        run.status == kNoEnd ? absl::StrCat("does not end within ", options.timeout_seconds, " s")
                             : absl::StrCat("ends with status ", run.status, ", wanted 0");
    return absl::InvalidArgumentError(
        absl::StrCat(image, ": ", what, ":\n", run.output.substr(0, kMaxShownBytes)));
  }
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> numbers = absl::StrSplit(line, ' ');
    int64_t cycles = 0;
    if (!absl::SimpleAtoi(numbers.first, &run.instructions.emplace_back()) ||
        !absl::SimpleAtoi(numbers.second, &cycles)) {
      return absl::InternalError(absl::StrCat("the plugin of the emulator wrote '", line, "'"));
    }
    if (!run.core.empty()) run.cycles.push_back(cycles);
  }
  if (!run.instructions.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      image,
      ": calls of BeginInference and EndInference, between which instructions are counted, "
      "were not found; they must be functions that are not inlined"));
}

// Returns "7", or "7 to 9".
std::string RangeText(const std::vector<int64_t>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return *least == *most ? absl::StrCat(*least) : absl::StrCat(*least, " to ", *most);
}

}  // namespace

absl::StatusOr<EmulatedRun> RunImage(absl::string_view emulator, const std::string& image,
                                     const RunOptions& options) {
  std::vector<std::string> argv = absl::StrSplit(emulator, ' ', absl::SkipWhitespace());
  if (argv.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: found nothing, wanted a program and its arguments");
  }
  EmulatedRun run;
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string plugin = folder.path() + "/plugin.so", counts = folder.path() + "/counts",
                    log = folder.path() + "/log";
  argv.insert(argv.end(), {"-kernel", image});
  if (options.counts) {
    if (!options.core.empty()) KILN_RETURN_IF_ERROR(CheckCore(options.core));
    run.core = options.core.empty() ? CoreOfMachine(argv) : options.core;
    std::ofstream(plugin, std::ios::binary) << EmulatorPlugin().begin()->second;
    const std::string of_core = run.core.empty() ? "" : ",core=" + run.core;
    argv.insert(argv.end(), {"-plugin", absl::StrCat(plugin, ",out=", counts, of_core)});
  }
  const absl::StatusOr<int> status = RunProgram(argv, log, options.timeout_seconds);
  if (!status.ok()) {
    return absl::NotFoundError(
        absl::StrCat("--emulator: '", argv[0], "' cannot be run: ", status.status().message()));
  }
  run.status = *status;
  run.output = Beginning(log);
  if (options.counts) KILN_RETURN_IF_ERROR(AddCounts(Beginning(counts), image, options, run));
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
  nlohmann::ordered_json json;
  if (run.instructions.empty()) {
    json["status"] = nullptr;
    if (run.status != kNoEnd) json["status"] = run.status;
  } else {
    json["instructions"] = run.instructions;
  }
  if (!run.cycles.empty()) {
    json["cycles"] = run.cycles;
    json["core"] = run.core;
  }
  json["output"] = run.output;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
