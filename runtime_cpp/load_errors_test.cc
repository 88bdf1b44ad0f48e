// SPDX-License-Identifier: Apache-2.0
//
// Loading in a process without enough memory, address space, file descriptors or rights, or in a
// system without /proc. The status must tell a service whether it can retry. Each attempt is a
// process of its own.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::IsEmpty;

constexpr int kOk = static_cast<int>(absl::StatusCode::kOk);
constexpr int kExhausted = static_cast<int>(absl::StatusCode::kResourceExhausted);
constexpr int kBadAlloc = 100;

// A library that takes 64 MiB of address space.
constexpr char kLibrary[] = "runtime_cpp/testdata/add_aot_large.so";

uint64_t AddressSpaceBytes() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Runs a function in a child process and returns its result.
int ExitStatusOf(const std::function<int()>& function) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(function());
    } catch (const std::bad_alloc&) {
      _exit(kBadAlloc);
    }
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WEXITSTATUS(status);
}

int CodeOfLoad(const std::string& path) {
  return static_cast<int>(Module::LoadFromFile(path).status().code());
}

// Loads in a child process with a limit and returns the code of the status; kBadAlloc if it threw.
int CodeOfLoad(const std::function<rlim_t()>& limit, __rlimit_resource resource) {
  return ExitStatusOf([&] {
    rlimit value = {};
    getrlimit(resource, &value);
    value.rlim_cur = limit();
    if (setrlimit(resource, &value) != 0) return 101;
    return CodeOfLoad(kLibrary);
  });
}

TEST(LoadErrors, LackOfAddressSpaceIsResourceExhausted) {
  std::set<int> codes;
  for (uint64_t room = 0; room <= 80 << 20; room += 1 << 20) {
    codes.insert(CodeOfLoad([room] { return AddressSpaceBytes() + room; }, RLIMIT_AS));
  }
  // Limits near the size of the library, in steps of one page.
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

// Lets this process mount file systems that no other process sees. Returns false if the system
// forbids it.
bool EnterOwnMounts() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// Runs `function` in a child process with its own mounts; kForbidden if that is not allowed.
constexpr int kForbidden = 102;
int ExitStatusWithOwnMounts(const std::function<int()>& function) {
  return ExitStatusOf([&] { return EnterOwnMounts() ? function() : kForbidden; });
}

TEST(LoadErrors, AFolderWhoseFilesMayNotBeExecutedIsPermissionDenied) {
  const fs::path folder = fs::path(::testing::TempDir()) / "noexec";
  fs::create_directories(folder);
  const int code = ExitStatusWithOwnMounts([&] {
    if (mount("none", folder.c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0) return kForbidden;
    fs::copy_file(kLibrary, folder / "model.so");
    return CodeOfLoad(folder / "model.so");
  });
  if (code == kForbidden) GTEST_SKIP() << "the system does not let this process mount";
  EXPECT_EQ(code, static_cast<int>(absl::StatusCode::kPermissionDenied));
}

TEST(LoadErrors, ASystemWithoutProcIsAFailedPrecondition) {
  const int code = ExitStatusWithOwnMounts([] {
    if (mount("none", "/proc", "tmpfs", 0, nullptr) != 0) return kForbidden;
    return CodeOfLoad(kLibrary);
  });
  if (code == kForbidden) GTEST_SKIP() << "the system does not let this process mount";
  EXPECT_EQ(code, static_cast<int>(absl::StatusCode::kFailedPrecondition));
}

TEST(LoadErrors, AFileThatMayNotBeReadIsPermissionDenied) {
  const fs::path path = fs::path(::testing::TempDir()) / "unreadable.so";
  fs::copy_file(kLibrary, path, fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms::none);
  if (access(path.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read every file";
  EXPECT_EQ(CodeOfLoad(path), static_cast<int>(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace kiln::runtime
