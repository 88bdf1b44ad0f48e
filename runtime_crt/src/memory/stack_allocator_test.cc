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
  EXPECT_EQ(Free(memory_ - 1), kTvmErrorPlatformStackAllocBadFree);
  if (GetParam()) {
    EXPECT_EQ(Free(a), kTvmErrorPlatformStackAllocBadFree);
  }
  EXPECT_EQ(Free(b), kTvmErrorNoError);
  EXPECT_EQ(Free(a), kTvmErrorNoError);
}

// The address after the last block is not a block.
TEST_P(StackAllocatorTest, TheEndOfTheLastBlockIsNoBlock) {
  ASSERT_EQ(StackMemoryManager_Init(&workspace_, memory_, sizeof(memory_)), kTvmErrorNoError);
  Allocate(16);
  void* const end = workspace_.next_alloc;
  EXPECT_EQ(Free(end), GetParam() ? kTvmErrorPlatformStackAllocBadFree : kTvmErrorNoError);
  EXPECT_EQ(workspace_.next_alloc, end);
}

// These functions do not check unless TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK is defined.
TEST(StackAllocatorDefaultTest, BlocksHaveNoTag) {
  alignas(16) uint8_t memory[64];
  tvm_workspace_t workspace;
  ASSERT_EQ(StackMemoryManager_Init(&workspace, memory, sizeof(memory)), kTvmErrorNoError);
  void* block = nullptr;
  ASSERT_EQ(StackMemoryManager_Allocate(&workspace, 64, &block), kTvmErrorNoError);
  EXPECT_EQ(block, memory);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace, 1, &block), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Allocate(&workspace, INT32_MAX, &block), kTvmErrorPlatformNoMemory);
  EXPECT_EQ(StackMemoryManager_Free(&workspace, memory), kTvmErrorNoError);
  EXPECT_EQ(workspace.next_alloc, memory);
}

INSTANTIATE_TEST_SUITE_P(LifoCheck, StackAllocatorTest, testing::Values(0, 1));

}  // namespace
