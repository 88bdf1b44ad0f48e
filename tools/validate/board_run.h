// SPDX-License-Identifier: Apache-2.0
// Runs a compiled model as firmware in QEMU.
#ifndef KILN_TOOLS_VALIDATE_BOARD_RUN_H_
#define KILN_TOOLS_VALIDATE_BOARD_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlf/model_library.h"
#include "tools/firmware/board.h"
#include "tools/judge/samples.h"

namespace kiln::tools {

struct BoardOptions {
  std::string emulator;  // replaces the board's emulator if not empty
  int timeout_seconds = 600;
};

struct BoardRun {
  std::vector<Samples> outputs;       // in the order of the model's outputs
  std::vector<int64_t> instructions;  // of each inference
};

// InvalidArgument, with an alternative, for a module without the C interface, which this firmware
// cannot call. Pools of the application are static memory of the firmware.
absl::Status CheckForBoard(const mlf::Module& module);

// Links the module and start-up code with the board's cross compiler, and runs it for every sample.
// `inputs` are in the order of the module's inputs, and all have the same number of samples.
// InvalidArgument if a program is missing, if the image is too large for the board, or if it fails.
absl::StatusOr<BoardRun> RunOnBoard(const mlf::Module& module, const Board& board,
                                    const std::vector<Samples>& inputs,
                                    const BoardOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_VALIDATE_BOARD_RUN_H_
