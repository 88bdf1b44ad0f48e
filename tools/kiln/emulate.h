// SPDX-License-Identifier: Apache-2.0
// Runs a firmware image in QEMU, counts the instructions that its inferences execute, and estimates
// their cycles on a core: `kiln inspect app.elf --emulator "qemu-system-arm -machine …"`.
#ifndef KILN_TOOLS_KILN_EMULATE_H_
#define KILN_TOOLS_KILN_EMULATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct EmulatedRun {
  // Instructions from each BeginInference to EndInference, in order.
  std::vector<int64_t> instructions;
  std::vector<int64_t> cycles;  // an estimate (tools/firmware/cycles.h); empty without a core
  std::string core;             // the core that takes these cycles; may be empty
  std::string output;           // output of the program
};

// Runs `image`. `emulator` is a QEMU for a whole machine with its arguments, separated by blanks.
// The image and a counting plugin are appended. The program must end with status 0 within
// `timeout_seconds`. It must define and call `void BeginInference(void)` and `void
// EndInference(void)`, and these functions must not be inlined. Otherwise InvalidArgument with the
// output of the emulator. `core` is LLVM's name of the core whose cycles are estimated; "" selects
// the core of the emulator's machine if it is known.
absl::StatusOr<EmulatedRun> Emulate(absl::string_view emulator, const std::string& image,
                                    int timeout_seconds, std::string core = "");

// Text for people, and a JSON object with the non-empty members of the struct.
std::string EmulatedText(const EmulatedRun& run);
std::string EmulatedJson(const EmulatedRun& run);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_EMULATE_H_
