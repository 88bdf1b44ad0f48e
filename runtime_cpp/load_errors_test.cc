// SPDX-License-Identifier: Apache-2.0
//
// Loading in a process that lacks memory, address space or file descriptors: the status says so, so
// that a service knows what to try again. Each try is a process of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <new>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr int kOk = static_cast<int>(absl::StatusCode::kOk);
constexpr int kExhausted = static_cast<int>(absl::StatusCode::kResourceExhausted);
constexpr int kBadAlloc = 100;

// Takes 64 MiB of address space.
constexpr char kLibrary[] = "runtime_cpp/testdata/add_aot_large.so";

uint64_t AddressSpaceBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The code of loading in a child process that limits itself before; kBadAlloc if it threw.
int CodeOfLoad(const std::function<rlim_t()>& limit, __rlimit_resource resource) {
  const pid_t child = fork();
  if (child == 0) {
    rlimit value = {};
    getrlimit(resource, &value);
    value.rlim_cur = limit();
    if (setrlimit(resource, &value) != 0) _exit(101);
    try {
      _exit(static_cast<int>(Module::LoadFromFile(kLibrary).status().code()));
    } catch (const std::bad_alloc&) {
      _exit(kBadAlloc);
    }
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

TEST(LoadErrors, LackOfAddressSpaceIsResourceExhausted) {
  std::set<int> codes;
  for (uint64_t room = 0; room <= 80 << 20; room += 1 << 20) {
    codes.insert(CodeOfLoad([room] { return AddressSpaceBytes() + room; }, RLIMIT_AS));
  }
  // Room near the size of the library, in steps of few pages.
  for (uint64_t pages = 0; pages < 64; ++pages) {
    const uint64_t room = (64 << 20) + 4096 * pages;
    codes.insert(CodeOfLoad([room] { return AddressSpaceBytes() + room; }, RLIMIT_AS));
  }
  EXPECT_THAT(codes, Contains(kOk));
  EXPECT_THAT(codes, Contains(kExhausted));
  codes.erase(kOk);
  codes.erase(kExhausted);
  codes.erase(kBadAlloc);
  EXPECT_THAT(codes, IsEmpty());
}

TEST(LoadErrors, LackOfDescriptorsIsResourceExhausted) {
  std::vector<int> codes;
  for (rlim_t descriptors = 0; descriptors < 40; ++descriptors) {
    codes.push_back(CodeOfLoad([descriptors] { return descriptors; }, RLIMIT_NOFILE));
    EXPECT_TRUE(codes.back() == kOk || codes.back() == kExhausted)
        << descriptors << ": " << codes.back();
  }
  EXPECT_EQ(codes.front(), kExhausted);
  EXPECT_EQ(codes.back(), kOk);
}

}  // namespace
}  // namespace kiln::runtime
