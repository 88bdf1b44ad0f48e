// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/object_on_board.h"

#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/c/c_compiler.h"
#include "gtest/gtest.h"
#include "tools/firmware/run_image.h"

namespace kiln {
namespace {

constexpr char kBareMetal[] = "runtime_crt/platform/bare_metal/";
constexpr int64_t kStackBytes = 16384;
constexpr int kRunSeconds = 120;

}  // namespace

bool HasBoard() {
  return codegen::HasCompiler("arm-none-eabi-gcc") && codegen::HasCompiler("qemu-system-arm");
}

std::string InTemporaryFolder(const std::string& name) {
  return absl::StrCat(getenv("TEST_TMPDIR"), "/", name);
}

std::string OutputOf(const std::string& command) {
  const std::string log = InTemporaryFolder("log");
  const int status = system(absl::StrCat(command, " > ", log, " 2>&1").c_str());
  std::ifstream file(log);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(WEXITSTATUS(status), 0) << command << "\n" << text;
  return text;
}

std::string FlagsOf(const tools::Board& board) { return absl::StrJoin(board.flags, " "); }

std::string RunOnBoard(const tools::Board& board, const std::string& object,
                       const std::string& main) {
  const std::string source = InTemporaryFolder("main.c"), image = InTemporaryFolder("image.elf");
  std::ofstream(source) << main;
  std::string parts;
  for (const char* part : {"semihosting", "stack_usage", "start", "start_cortex_m"}) {
    absl::StrAppend(&parts, " ", kBareMetal, part, ".c");
  }
  OutputOf(absl::StrCat(board.compiler, "-gcc -O1 -std=c99 -I. -w ", FlagsOf(board), " ", object,
                        " ", source, parts, " -nostartfiles -Wl,--gc-sections -T ", kBareMetal,
                        "image.ld -Wl,-z,noexecstack ",
                        absl::StrJoin(tools::MemoryFlags(board, kStackBytes), " "), " -o ", image));
  const auto run = tools::RunImage(board.emulator, image, {.timeout_seconds = kRunSeconds});
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return "";
  EXPECT_EQ(run->status, 0);
  return run->output;
}

}  // namespace kiln
