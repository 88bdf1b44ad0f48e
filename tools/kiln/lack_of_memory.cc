// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/lack_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "compiler/base/temporary_folder.h"

namespace kiln::tools {
namespace {

constexpr size_t kReserveBytes = size_t{1} << 20;  // enough to remove folders
constexpr char kMessage[] = "kiln: out of memory\n";

void* reserve = nullptr;

// The new-handler. It does not throw, because libraries compiled without exceptions, such as LLVM,
// could not propagate one.
void EndProcess() {
  static std::atomic<bool> ending = false;
  static thread_local bool is_ending_thread = false;
  if (is_ending_thread) _exit(EXIT_FAILURE);  // the reserve is used up
  if (ending.exchange(true)) {
    while (true) pause();  // another thread ends the process
  }
  is_ending_thread = true;
  std::free(reserve);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  RemoveTemporaryFolders();
  _exit(EXIT_FAILURE);
}

}  // namespace

void EndOnLackOfMemory() {
  reserve = std::malloc(kReserveBytes);
  std::set_new_handler(EndProcess);
}

}  // namespace kiln::tools
