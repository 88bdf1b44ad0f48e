// SPDX-License-Identifier: Apache-2.0
// Runs a firmware image on a board in QEMU, and prints JSON:
//
//   run_image BOARD SECONDS IMAGE               {"status": 0, "output": "…"}
//   run_image BOARD SECONDS IMAGE count [CORE]  {"instructions": [1234], "cycles": [2000], …}
//
// BOARD is a name of boards.bzl, and SECONDS is the time that the program may take. "status" is
// null if it takes longer. CORE, if it is not empty, replaces the board's core in the estimate of
// cycles. The exit status is 0, or 2 with a message if there is no result: QEMU is missing, or a
// program whose instructions are counted does not end with status 0.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/firmware/board.h"
#include "tools/firmware/run_image.h"

namespace kiln::tools {
namespace {

absl::StatusOr<EmulatedRun> RunOnNamedBoard(const std::vector<std::string>& arguments) {
  RunOptions options = {.counts = arguments.size() > 3 && arguments[3] == "count"};
  if (arguments.size() < 3 || arguments.size() > (options.counts ? 5u : 3u) ||
      !absl::SimpleAtoi(arguments[1], &options.timeout_seconds)) {
    return absl::InvalidArgumentError("usage: run_image BOARD SECONDS IMAGE [count [CORE]]");
  }
  if (arguments.size() > 4) options.core = arguments[4];
  for (const Board& board : Boards()) {
    if (board.name != arguments[0]) continue;
    absl::StatusOr<EmulatedRun> run = RunImage(board.emulator, arguments[2], options);
    if (!absl::IsNotFound(run.status())) return run;
    const std::string program = board.emulator.substr(0, board.emulator.find(' '));
    return absl::NotFoundError(
        absl::StrCat(run.status().message(), "; on Debian install ", PackageOf(program)));
  }
  return absl::NotFoundError(absl::StrCat("found no board '", arguments[0], "'"));
}

}  // namespace
}  // namespace kiln::tools

int main(int argc, char** argv) {
  const auto run = kiln::tools::RunOnNamedBoard({argv + 1, argv + argc});
  if (!run.ok()) {
    std::fprintf(stderr, "run_image: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  std::fputs(kiln::tools::EmulatedJson(*run).c_str(), stdout);
  return 0;
}
