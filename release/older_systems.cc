// SPDX-License-Identifier: Apache-2.0
// Functions that static libraries of Debian 12 take from its C and C++ libraries and that older systems do
// not have. With them the compiler runs with glibc 2.34 and the libstdc++ of gcc 11, as on Ubuntu 22.04,
// RHEL 9 and Amazon Linux 2023. //release:release_test sees to it that there are no others.
#include <pthread.h>
#include <sys/random.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// glibc 2.36. LLVM names temporary files with it, and expat seeds its hash tables.
extern "C" void arc4random_buf(void* buffer, size_t size) noexcept {
  char* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t read = getrandom(to, size, 0);
    if (read < 0) continue;  // a signal
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

// The first member of libstdc++'s std::condition_variable, and of std::unique_lock<std::mutex>.
struct ConditionVariable {
  pthread_cond_t condition;
};
struct UniqueLock {
  pthread_mutex_t* mutex;
};

// std::condition_variable::wait(std::unique_lock<std::mutex>&), of which gcc 12 has a new version.
void Wait(ConditionVariable* variable,
          UniqueLock* lock) __asm__("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void Wait(ConditionVariable* variable, UniqueLock* lock) {
  pthread_cond_wait(&variable->condition, lock->mutex);
}

}  // namespace kiln
