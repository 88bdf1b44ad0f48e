// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/platform.h"

#include <cstdint>
#include <cstring>

#include "gtest/gtest.h"

namespace {

constexpr DLDevice kCpu = {kDLCPU, 0};

TEST(PlatformTest, MemoryIsAlignedAndWritable) {
  for (const size_t bytes : {0, 1, 63, 64, 1000}) {
    void* memory = nullptr;
    ASSERT_EQ(TVMPlatformMemoryAllocate(bytes, kCpu, &memory), kTvmErrorNoError);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    memset(memory, 0x55, bytes);
    EXPECT_EQ(TVMPlatformMemoryFree(memory, kCpu), kTvmErrorNoError);
  }
  EXPECT_EQ(TVMPlatformMemoryFree(nullptr, kCpu), kTvmErrorNoError);
}

TEST(PlatformTest, MemoryThatIsNotThere) {
  void* memory = nullptr;
  EXPECT_EQ(TVMPlatformMemoryAllocate(8, {kDLCUDA, 0}, &memory), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMPlatformMemoryAllocate(SIZE_MAX, kCpu, &memory), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(TVMPlatformMemoryAllocate(SIZE_MAX / 2, kCpu, &memory), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(memory, nullptr);
}

TEST(PlatformTest, TheTimerStartsAndStopsInTurn) {
  double seconds = -1;
  EXPECT_EQ(TVMPlatformTimerStop(&seconds), kTvmErrorPlatformTimerBadState);
  EXPECT_EQ(seconds, -1);
  EXPECT_EQ(TVMPlatformTimerStart(), kTvmErrorNoError);
  EXPECT_EQ(TVMPlatformTimerStart(), kTvmErrorPlatformTimerBadState);
  EXPECT_EQ(TVMPlatformTimerStop(&seconds), kTvmErrorNoError);
  EXPECT_GE(seconds, 0);
  EXPECT_EQ(TVMPlatformTimerStop(&seconds), kTvmErrorPlatformTimerBadState);
}

TEST(PlatformTest, AbortNamesTheError) {
  EXPECT_EXIT(TVMPlatformAbort(kTvmErrorPlatformNoMemory), testing::ExitedWithCode(1),
              "abort: error 0x[0-9a-f]+");
}

}  // namespace
