// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/emulate.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

constexpr std::streamsize kMaxOutputBytes = 1 << 20;
constexpr size_t kMaxShownBytes = 2000;

// The first kMaxOutputBytes of a file that may be empty.
std::string Beginning(const std::string& path) {
  std::string text(static_cast<size_t>(kMaxOutputBytes), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), kMaxOutputBytes);
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

}  // namespace

absl::StatusOr<EmulatedRun> Emulate(absl::string_view emulator, const std::string& image,
                                    int timeout_seconds) {
  std::vector<std::string> argv = absl::StrSplit(emulator, ' ', absl::SkipWhitespace());
  if (argv.empty()) {
    return absl::InvalidArgumentError(
        "--emulator: found nothing, wanted a program and its arguments");
  }
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string plugin = folder.path() + "/plugin.so", counts = folder.path() + "/counts",
                    log = folder.path() + "/log";
  std::ofstream(plugin, std::ios::binary) << EmulatorPlugin().begin()->second;
  argv.insert(argv.end(), {"-kernel", image, "-plugin", absl::StrCat(plugin, ",out=", counts)});
  const absl::StatusOr<int> ran = RunProgram(argv, log, timeout_seconds);
  if (!ran.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--emulator: '", argv[0], "' cannot be run: ", ran.status().message()));
  }
  const int status = *ran;
  EmulatedRun run;
  run.output = Beginning(log);
  if (status != 0) {
    const std::string what = status == kNoEnd
                                 ? absl::StrCat("does not end within ", timeout_seconds, " s")
                                 : absl::StrCat("ends with status ", status, ", wanted 0");
    return absl::InvalidArgumentError(
        absl::StrCat(image, ": ", what, ":\n", run.output.substr(0, kMaxShownBytes)));
  }
  const std::string lines = Beginning(counts);
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(line, &run.instructions.emplace_back())) {
      return absl::InternalError(absl::StrCat("the plugin of the emulator wrote '", line, "'"));
    }
  }
  if (run.instructions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        image,
        ": calls of BeginInference and EndInference, between which instructions are counted, "
        "were not found; they must be functions that are not inlined"));
  }
  return run;
}

std::string EmulatedText(const EmulatedRun& run) {
  const auto [least, most] = std::minmax_element(run.instructions.begin(), run.instructions.end());
  std::string text = absl::StrCat("instructions: ", *least);
  if (*least != *most) absl::StrAppend(&text, " to ", *most);
  return absl::StrCat(text, " in each of ", run.instructions.size(),
                      run.instructions.size() == 1 ? " inference\n" : " inferences\n");
}

std::string EmulatedJson(const EmulatedRun& run) {
  const nlohmann::ordered_json json = {{"instructions", run.instructions}, {"output", run.output}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
