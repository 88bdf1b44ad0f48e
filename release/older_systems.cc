// SPDX-License-Identifier: Apache-2.0
// Functions of Debian 12's C and C++ libraries that older systems lack, but that static libraries
// of Debian 12 call. With these definitions the compiler runs with glibc 2.34 and the libstdc++ of
// gcc 11, as on Ubuntu 22.04, RHEL 9 and Amazon Linux 2023. //release:release_test checks that no
// other newer symbol is needed.
#include <pthread.h>
#include <sys/random.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Introduced by glibc 2.36. LLVM names temporary files with it, and expat seeds its hash tables.
extern "C" void arc4random_buf(void* buffer, size_t size) noexcept {
  char* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t read = getrandom(to, size, 0);
    if (read < 0) continue;  // interrupted by a signal
    to += read;
    size -= static_cast<size_t>(read);
  }
}

extern "C" uint32_t arc4random() noexcept {
  uint32_t value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}

namespace kiln {

// First members of libstdc++'s std::condition_variable and std::unique_lock<std::mutex>.
struct ConditionVariable {
  pthread_cond_t condition;
};
struct UniqueLock {
  pthread_mutex_t* mutex;
};

// std::condition_variable::wait(std::unique_lock<std::mutex>&), which has a new version in gcc 12.
void Wait(ConditionVariable* variable,
          UniqueLock* lock) __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void Wait(ConditionVariable* variable, UniqueLock* lock) {
  pthread_cond_wait(&variable->condition, lock->mutex);
}

}  // namespace kiln
