// SPDX-License-Identifier: Apache-2.0
// Runs a firmware image in QEMU, counts the instructions that its inferences execute, and estimates
// the cycles that a core takes for them:
// `kiln inspect app.elf --emulator "qemu-system-arm -machine …"`.
#ifndef KILN_TOOLS_KILN_EMULATE_H_
#define KILN_TOOLS_KILN_EMULATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct EmulatedRun {
  // Between BeginInference and EndInference, each time, in order.
  std::vector<int64_t> instructions;
  std::vector<int64_t> cycles;  // an estimate (tools/firmware/cycles.h); empty without a core
  std::string core;             // whose cycles these are; may be empty
  std::string output;           // what the program wrote
};

// `emulator` is a QEMU of a whole machine with its arguments, separated by blanks; the image and a
// plugin that counts are added. The program has to end with status 0 within `timeout_seconds`, and
// to call `void BeginInference(void)` and `void EndInference(void)`, functions of its own that are
// not inlined. InvalidArgument otherwise, with what the emulator wrote. `core` is LLVM's name of
// the core whose cycles are estimated; "" stands for that of the emulator's machine, if it is known.
absl::StatusOr<EmulatedRun> Emulate(absl::string_view emulator, const std::string& image,
                                    int timeout_seconds, std::string core = "");

// As text for people, and as JSON: an object with the names of the struct, without empty ones.
std::string EmulatedText(const EmulatedRun& run);
std::string EmulatedJson(const EmulatedRun& run);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_EMULATE_H_
