// SPDX-License-Identifier: Apache-2.0
// The boards that QEMU emulates, with compiler and emulator.
//
//   KILN_ASSIGN_OR_RETURN(const Board board, FindBoard("cortex-m4f"));
#ifndef KILN_TOOLS_FIRMWARE_BOARD_H_
#define KILN_TOOLS_FIRMWARE_BOARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct Board {
  std::string name;                   // "cortex_m4f"
  std::string target;                 // for kiln compile
  std::string compiler;               // prefix of the GNU tool chain: "arm-none-eabi"
  std::vector<std::string> flags;     // for its gcc
  std::string emulator;               // a QEMU and its arguments, separated by blanks
  std::string core;                   // LLVM's name if its cycles are known (cycles.h), or empty
  std::vector<std::string> machines;  // QEMU's machines with this core
  int64_t flash_start = 0, flash_bytes = 0, ram_start = 0, ram_bytes = 0;
};

// Returns the boards of tools/firmware/boards.bzl.
const std::vector<Board>& Boards();

// NotFound, with the targets that have a board, for a target without one.
absl::StatusOr<Board> FindBoard(absl::string_view target);

// Returns the linker's flags that describe the board's memory to image.ld.
std::vector<std::string> MemoryFlags(const Board& board, int64_t stack_bytes);

// Returns the Debian package of a GNU tool chain's compiler, or of an emulator.
std::string PackageOf(absl::string_view program);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_FIRMWARE_BOARD_H_
