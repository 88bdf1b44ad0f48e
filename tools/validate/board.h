// SPDX-License-Identifier: Apache-2.0
// The boards that QEMU emulates: what builds an image for one, and what runs it.
//
//   KILN_ASSIGN_OR_RETURN(const Board board, FindBoard("cortex-m4f"));
#ifndef KILN_TOOLS_VALIDATE_BOARD_H_
#define KILN_TOOLS_VALIDATE_BOARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

struct Board {
  std::string target;              // of kiln compile
  std::string compiler;            // the name of the GNU tool chain: "arm-none-eabi"
  std::vector<std::string> flags;  // of its gcc
  std::string emulator;            // a QEMU and its arguments, separated by blanks
  int64_t flash_start = 0, flash_bytes = 0, ram_start = 0, ram_bytes = 0;
};

// Those of tools/firmware/boards.bzl.
const std::vector<Board>& Boards();

// NotFound, with the targets that have one, for a target without a board.
absl::StatusOr<Board> FindBoard(absl::string_view target);

// The Debian package of a GNU tool chain's compiler, and of an emulator.
std::string PackageOf(absl::string_view program);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_VALIDATE_BOARD_H_
