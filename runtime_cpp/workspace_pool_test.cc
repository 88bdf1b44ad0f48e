// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/workspace_pool.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/workspaces.h"

namespace kiln::runtime {
namespace {

TEST(WorkspacePool, ReusesWhatIsGivenBack) {
  WorkspacePool pool;
  void* const small = pool.Allocate(kCpu, 100).value();
  void* const large = pool.Allocate(kCpu, 10000).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small) % kAllocationAlignment, 0u);
  memset(small, 1, 100);
  memset(large, 2, 10000);
  EXPECT_TRUE(pool.Free(kCpu, large).ok());
  EXPECT_TRUE(pool.Free(kCpu, small).ok());
  EXPECT_EQ(pool.Allocate(kCpu, 1).value(), small);
  EXPECT_EQ(pool.Allocate(kCpu, 1).value(), large);
  EXPECT_NE(pool.Allocate(kCpu, 0).value(), nullptr);
}

TEST(WorkspacePool, RefusesForeignMemory) {
  WorkspacePool pool;
  int other = 0;
  EXPECT_FALSE(pool.Free(kCpu, &other).ok());
  void* const block = pool.Allocate(kCpu, 1).value();
  EXPECT_TRUE(pool.Free(kCpu, block).ok());
  EXPECT_FALSE(pool.Free(kCpu, block).ok());
}

TEST(WorkspacePool, ErrorsInsteadOfOverflow) {
  WorkspacePool pool;
  EXPECT_FALSE(pool.Allocate(kCpu, std::numeric_limits<uint64_t>::max()).ok());
  EXPECT_FALSE(pool.Allocate(kCpu, std::numeric_limits<uint64_t>::max() / 2).ok());
  EXPECT_FALSE(pool.Allocate({kDLCUDA, 0}, 1).ok());
}

TEST(WorkspacePool, EveryThreadHasItsOwn) {
  WorkspacePool* const here = &WorkspacePool::ThisThread();
  std::thread([here] { EXPECT_NE(&WorkspacePool::ThisThread(), here); }).join();
}

TEST(ScopedWorkspace, GivesBackAtTheEnd) {
  void* first = nullptr;
  {
    ScopedWorkspace workspace = ScopedWorkspace::Allocate(kCpu, 64).value();
    const ScopedWorkspace moved = std::move(workspace);
    first = moved.data();
  }
  EXPECT_EQ(ScopedWorkspace::Allocate(kCpu, 64)->data(), first);
}

constexpr uint64_t kMega = uint64_t{1} << 20;

// Fixture that starts and ends without idle blocks in the process.
class Workspaces : public ::testing::Test {
 protected:
  void SetUp() override { TrimWorkspaces(); }
  void TearDown() override {
    SetIdleWorkspaceLimit(std::numeric_limits<uint64_t>::max());
    TrimWorkspaces();
  }

  // Allocates and frees one block after the other on a new thread. Sizes are in MiB.
  static void UseOnAnotherThread(const std::vector<uint64_t>& sizes) {
    std::thread([&sizes] {
      for (const uint64_t size : sizes) {
        EXPECT_TRUE(ScopedWorkspace::Allocate(kCpu, size * kMega).ok());
      }
    }).join();
  }
};

TEST_F(Workspaces, LargeBlocksAreThereOncePerUseNotPerThread) {
  for (int i = 0; i < 16; ++i) UseOnAnotherThread({40});
  EXPECT_EQ(IdleWorkspaceBytes(), 40 * kMega);
  {
    const ScopedWorkspace one = ScopedWorkspace::Allocate(kCpu, 40 * kMega).value();
    const ScopedWorkspace two = ScopedWorkspace::Allocate(kCpu, 40 * kMega).value();
    EXPECT_EQ(IdleWorkspaceBytes(), 0u);
  }
  EXPECT_EQ(IdleWorkspaceBytes(), 80 * kMega);
}

TEST_F(Workspaces, ALargerBlockReplacesASmallerOne) {
  UseOnAnotherThread({4, 5, 6, 7, 8, 9});
  EXPECT_EQ(IdleWorkspaceBytes(), 9 * kMega);
  UseOnAnotherThread({4, 9, 1});
  EXPECT_EQ(IdleWorkspaceBytes(), 9 * kMega);
  WorkspacePool pool;
  for (const uint64_t bytes : {5000, 10000, 15000, 20000}) {
    EXPECT_TRUE(pool.Free(kCpu, pool.Allocate(kCpu, bytes).value()).ok());
  }
  EXPECT_EQ(IdleWorkspaceBytes(), 9 * kMega + 20480);
}

TEST_F(Workspaces, TrimFreesTheBlocksOfAllThreads) {
  std::mutex mutex;
  mutex.lock();
  std::atomic<bool> idle = false;
  std::thread thread([&] {
    EXPECT_TRUE(ScopedWorkspace::Allocate(kCpu, 4096).ok());
    EXPECT_TRUE(ScopedWorkspace::Allocate(kCpu, 3 * kMega).ok());
    idle = true;
    idle.notify_one();
    const std::lock_guard<std::mutex> lock(mutex);
  });
  idle.wait(false);
  EXPECT_EQ(IdleWorkspaceBytes(), 3 * kMega + 4096);
  EXPECT_EQ(TrimWorkspaces(), 3 * kMega + 4096);
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
  EXPECT_EQ(TrimWorkspaces(), 0u);
  mutex.unlock();
  thread.join();
}

TEST_F(Workspaces, TrimLeavesBlocksInUse) {
  const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 2 * kMega).value();
  EXPECT_EQ(TrimWorkspaces(), 0u);
  memset(used.data(), 1, 2 * kMega);
}

TEST_F(Workspaces, AnEndedThreadKeepsNothing) {
  std::thread([] { EXPECT_TRUE(ScopedWorkspace::Allocate(kCpu, 4096).ok()); }).join();
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
}

TEST_F(Workspaces, KeepsNoMoreThanTheLimit) {
  SetIdleWorkspaceLimit(5 * kMega);
  {
    const ScopedWorkspace one = ScopedWorkspace::Allocate(kCpu, 3 * kMega).value();
    const ScopedWorkspace two = ScopedWorkspace::Allocate(kCpu, 4 * kMega).value();
  }
  EXPECT_EQ(IdleWorkspaceBytes(), 4 * kMega);
  SetIdleWorkspaceLimit(3 * kMega);
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
  SetIdleWorkspaceLimit(0);
  for (const uint64_t bytes : {uint64_t{1}, 4 * kMega}) {
    EXPECT_TRUE(ScopedWorkspace::Allocate(kCpu, bytes).ok());
    EXPECT_EQ(IdleWorkspaceBytes(), 0u);
  }
}

TEST_F(Workspaces, GoWithTheModelsThatUseThem) {
  auto small = std::make_unique<WorkspaceUser>(2 * kMega);
  auto large = std::make_unique<WorkspaceUser>(6 * kMega);
  {
    const ScopedWorkspace one = ScopedWorkspace::Allocate(kCpu, 6 * kMega).value();
    const ScopedWorkspace two = ScopedWorkspace::Allocate(kCpu, 2 * kMega).value();
    const ScopedWorkspace three = ScopedWorkspace::Allocate(kCpu, 4096).value();
  }
  EXPECT_EQ(IdleWorkspaceBytes(), 8 * kMega + 4096);
  large.reset();
  EXPECT_EQ(IdleWorkspaceBytes(), 2 * kMega + 4096);
  small.reset();
  EXPECT_EQ(IdleWorkspaceBytes(), 0u);
}

TEST_F(Workspaces, FreesIdleBlocksBeforeItGivesUp) {
  {
    const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 200 * kMega).value();
  }
  {
    const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 4096).value();
  }
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const uint64_t now = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const rlimit lower = {.rlim_cur = now + 16 * kMega, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  // The block in use leaves no room for another one of its size, and a small one cannot replace it.
  {
    const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 200 * kMega).value();
    EXPECT_TRUE(absl::IsResourceExhausted(ScopedWorkspace::Allocate(kCpu, 180 * kMega).status()));
  }
  const absl::StatusOr<ScopedWorkspace> larger = ScopedWorkspace::Allocate(kCpu, 210 * kMega);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_TRUE(larger.ok()) << larger.status();
}

// The other thread of the parent has left a pool in memory that the child reuses.
TEST_F(Workspaces, WorkInTheChildOfAFork) {
  std::atomic<bool> idle = false, end = false;
  std::thread thread([&] {
    {
      const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 4096).value();
    }
    idle = true;
    idle.notify_one();
    end.wait(false);
  });
  idle.wait(false);
  {
    const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 3 * kMega).value();
  }
  {
    const ScopedWorkspace used = ScopedWorkspace::Allocate(kCpu, 4096).value();
  }
  const pid_t child = fork();
  if (child == 0) {
    bool right = TrimWorkspaces() == 3 * kMega + 4096;
    for (int i = 0; i < 4; ++i) UseOnAnotherThread({1, 2, 3});
    right &= TrimWorkspaces() == 3 * kMega;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(IdleWorkspaceBytes(), 3 * kMega + 2 * 4096);
  end = true;
  end.notify_one();
  thread.join();
}

}  // namespace
}  // namespace kiln::runtime
