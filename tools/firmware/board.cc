// SPDX-License-Identifier: Apache-2.0
#include "tools/firmware/board.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

std::vector<Board> ReadBoards() {
  std::vector<Board> boards;
  for (const auto& json : nlohmann::json::parse(BoardsJson().begin()->second)) {
    boards.push_back({
        .name = json["name"],
        .target = json["target"],
        .compiler = json["compiler"],
        .flags = json["flags"],
        .emulator = json["emulator"],
        .core = json["core"],
        .machines = json["machines"],
        .flash_start = json["flash_start"],
        .flash_bytes = json["max_flash_bytes"],
        .ram_start = json["ram_start"],
        .ram_bytes = json["max_ram_bytes"],
    });
  }
  return boards;
}

}  // namespace

const std::vector<Board>& Boards() {
  static const auto& boards = *new std::vector<Board>(ReadBoards());
  return boards;
}

absl::StatusOr<Board> FindBoard(absl::string_view target) {
  std::vector<std::string> targets;
  for (const Board& board : Boards()) {
    if (board.target == target) return board;
    targets.push_back(board.target);
  }
  return absl::NotFoundError(absl::StrCat(
      "--target: found '", target, "', for which there is no emulated board; wanted one of ",
      absl::StrJoin(targets, ", "), ", or a target that runs on this machine"));
}

std::vector<std::string> MemoryFlags(const Board& board, int64_t stack_bytes) {
  std::vector<std::string> flags;
  for (const auto& [symbol, value] :
       {std::pair("flash_start", board.flash_start), std::pair("flash_bytes", board.flash_bytes),
        std::pair("ram_start", board.ram_start), std::pair("ram_bytes", board.ram_bytes),
        std::pair("stack_bytes", stack_bytes)}) {
    flags.push_back(absl::StrCat("-Wl,--defsym=", symbol, "=", value));
  }
  return flags;
}

std::string PackageOf(absl::string_view program) {
  if (program == "qemu-system-arm") return "qemu-system-arm";
  if (absl::StartsWith(program, "qemu-system")) return "qemu-system-misc";
  if (absl::StartsWith(program, "arm-none-eabi")) {
    return "gcc-arm-none-eabi and libnewlib-arm-none-eabi";
  }
  if (absl::StartsWith(program, "riscv64-unknown-elf")) {
    return "gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf";
  }
  return std::string(program);
}

}  // namespace kiln::tools
