// SPDX-License-Identifier: Apache-2.0
// Runs firmware images in QEMU. No other code starts QEMU for a whole machine. Python and rules
// call the program run_image (run_image_main.cc), which prints JSON.
//
//   KILN_ASSIGN_OR_RETURN(const Board board, FindBoard("cortex-m4f"));
//   KILN_ASSIGN_OR_RETURN(const EmulatedRun run, RunImage(board.emulator, "app.elf", {}));
#ifndef KILN_TOOLS_FIRMWARE_RUN_IMAGE_H_
#define KILN_TOOLS_FIRMWARE_RUN_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct RunOptions {
  int timeout_seconds = 60;
  // Counts the instructions of inferences and estimates their cycles, by a plugin of QEMU.
  bool counts = false;
  std::string core = {};  // LLVM's name of the core whose cycles are estimated; "": the machine's
};

struct EmulatedRun {
  int status = 0;      // exit status of the program, or kNoEnd (tools/kiln/run_program.h)
  std::string output;  // of the program and of the emulator: the first MiB
  // Instructions from each BeginInference to EndInference, in order.
  std::vector<int64_t> instructions;
  std::vector<int64_t> cycles;  // an estimate (cycles.h); empty without a core
  std::string core;             // the core that takes these cycles; may be empty
};

// Runs `image`. `emulator` is a QEMU for a whole machine with its arguments, separated by blanks.
// The image is appended. NotFound if the emulator cannot be run. A program whose instructions are
// counted must end with status 0 in time. It must define and call `void BeginInference(void)` and
// `void EndInference(void)`, and these functions must not be inlined. Otherwise InvalidArgument
// with the output of the emulator.
absl::StatusOr<EmulatedRun> RunImage(absl::string_view emulator, const std::string& image,
                                     const RunOptions& options);

// Text for people about a run with counted instructions.
std::string EmulatedText(const EmulatedRun& run);

// Returns a JSON object with the non-empty members of the struct. "status" is left out if
// instructions are counted, and null for a program that does not end in time.
std::string EmulatedJson(const EmulatedRun& run);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_FIRMWARE_RUN_IMAGE_H_
