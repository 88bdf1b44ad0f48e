// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/stack_allocator.h"

#include "gtest/gtest.h"

namespace {

class StackAllocatorTest : public testing::TestWithParam<uint8_t> {
 protected:
  void* Allocate(int32_t bytes, tvm_crt_error_t expected = kTvmErrorNoError) {
    void* block = nullptr;
    EXPECT_EQ(StackMemoryManager_Allocate_Body(&workspace_, bytes, &block, GetParam()), expected);
    return block;
  }
  tvm_crt_error_t Free(void* block) {
    return StackMemoryManager_Free_Body(&workspace_, block, GetParam());
  }

  alignas(16) uint8_t memory_[256];
  tvm_workspace_t workspace_;
};

TEST_P(StackAllocatorTest, BlocksAreAlignedAndApart) {
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_, sizeof(memory_)), kTvmErrorNoError);
  auto* a = static_cast<uint8_t*>(Allocate(1));
  auto* b = static_cast<uint8_t*>(Allocate(17));
  auto* c = static_cast<uint8_t*>(Allocate(32));
  for (uint8_t* block : {a, b, c}) EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
  EXPECT_EQ(a, memory_);
  EXPECT_GE(b, a + 16);
  EXPECT_GE(c, b + 32);
  EXPECT_EQ(Free(c), kTvmErrorNoError);
  EXPECT_EQ(Free(b), kTvmErrorNoError);
  EXPECT_EQ(Allocate(17), b);
}

TEST_P(StackAllocatorTest, RefusesMoreThanThereIs) {
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_, sizeof(memory_)), kTvmErrorNoError);
  Allocate(257, kTvmErrorPlatformNoMemory);
  Allocate(-1, kTvmErrorPlatformNoMemory);
  void* all = Allocate(GetParam() ? 240 : 256);
  Allocate(1, kTvmErrorPlatformNoMemory);
  EXPECT_EQ(Free(all), kTvmErrorNoError);
}

TEST_P(StackAllocatorTest, StartIsRoundedUp) {
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_ + 1, 255), kTvmErrorNoError);
  EXPECT_EQ(workspace_.workspace, memory_ + 16);
  EXPECT_EQ(workspace_.workspace_size, 240u);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, memory_ + 1, 3), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, memory_ + 1, 15), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, memory_ + 1, 16), kTvmErrorNoError);
  EXPECT_EQ(StackMemoryManager_Init(&workspace_, memory_, 0), kTvmErrorPlatformNoMemory);
  Allocate(1, kTvmErrorPlatformNoMemory);
}

TEST_P(StackAllocatorTest, OtherAddressesCannotBeFreed) {
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_, sizeof(memory_)), kTvmErrorNoError);
  void* a = Allocate(16);
  void* b = Allocate(16);
  EXPECT_EQ(Free(memory_ + 255), kTvmErrorPlatformStackAllocBadFree);
  if (GetParam()) {
    EXPECT_EQ(Free(a), kTvmErrorPlatformStackAllocBadFree);
  }
  EXPECT_EQ(Free(b), kTvmErrorNoError);
  EXPECT_EQ(Free(a), kTvmErrorNoError);
}

INSTANTIATE_TEST_SUITE_P(LifoCheck, StackAllocatorTest, testing::Values(0, 1));

}  // namespace
