// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/workspace_pool.h"

#include <cstring>
#include <limits>
#include <thread>

#include "gtest/gtest.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/device_api.h"

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

}  // namespace
}  // namespace kiln::runtime
