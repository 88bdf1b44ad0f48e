// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/graph_executor.h"

#include <vector>

#include "gtest/gtest.h"

namespace {

int fail_at = -1, calls;

// Computes out = a + b for all floats of `out`.
int Add(TVMValue* args, int* codes, int num_args, TVMValue*, int*, void*) {
  if (num_args != 3 || codes[2] != kTVMDLTensorHandle) return -1;
  if (calls++ == fail_at) return -7;
  const auto* out = static_cast<const DLTensor*>(args[2].v_handle);
  for (int64_t i = 0; i < out->shape[0]; ++i) {
    static_cast<float*>(out->data)[i] =
        static_cast<float*>(static_cast<const DLTensor*>(args[0].v_handle)->data)[i] +
        static_cast<float*>(static_cast<const DLTensor*>(args[1].v_handle)->data)[i];
  }
  return 0;
}

// y = (a + b) + a.
const int64_t kShape[] = {2};
const DLDataType kFloat32 = {kDLFloat, 32, 1};
const GraphTensor kTensors[] = {{kShape, 1, kFloat32, 0, 0},
                                {kShape, 1, kFloat32, 1, 0},
                                {kShape, 1, kFloat32, -1, 64},
                                {kShape, 1, kFloat32, 2, 0}};
const int32_t kFirst[] = {0, 1, 2}, kSecond[] = {2, 0, 3};
const GraphCall kCalls[] = {{Add, "add", kFirst, 3}, {Add, "add", kSecond, 3}};
const GraphPort kPorts[] = {{"a", 0, 8}, {"b", 1, 8}, {"y", 3, 8}};
GraphTable table = {KILN_GRAPH_TABLE_VERSION, "m", kTensors, 4, kCalls, 2, kPorts, 2, 1, 3, 128};

DLTensor Wrap(std::vector<float>& data, std::vector<int64_t>& shape) {
  return {data.data(),
          {kDLCPU, 0},
          static_cast<int32_t>(shape.size()),
          kFloat32,
          shape.data(),
          nullptr,
          0};
}

class GraphExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    calls = 0;
    fail_at = -1;
  }
  std::vector<float> a_ = {1, 2}, b_ = {10, 20}, y_ = {0, 0};
  std::vector<int64_t> shape_ = {2};
  TVMGraphExecutor executor_;
};

TEST_F(GraphExecutorTest, RunsInAnyMemoryThatIsLargeEnough) {
  const size_t bytes = TVMGraphExecutor_MemoryBytes(&table, 1);
  std::vector<uint8_t> memory(bytes + 8, 0x55);
  EXPECT_EQ(TVMGraphExecutor_Init(&executor_, &table, 1, memory.data(), bytes - 1),
            kTvmErrorPlatformNoMemory);
  for (size_t skip = 0; skip < 8; ++skip) {
    ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &table, 1, memory.data() + skip, bytes),
              kTvmErrorNoError);
    EXPECT_EQ(TVMGraphExecutor_GetNumInputs(&executor_), 2);
    EXPECT_EQ(TVMGraphExecutor_GetNumOutputs(&executor_), 1);
    EXPECT_EQ(TVMGraphExecutor_GetInputIndex(&executor_, "b"), 1);
    DLTensor a = Wrap(a_, shape_), b = Wrap(b_, shape_), y = Wrap(y_, shape_);
    ASSERT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &a), kTvmErrorNoError);
    ASSERT_EQ(TVMGraphExecutor_SetInput(&executor_, "b", &b), kTvmErrorNoError);
    ASSERT_EQ(TVMGraphExecutor_Run(&executor_), 0);
    ASSERT_EQ(TVMGraphExecutor_GetOutput(&executor_, 0, &y), kTvmErrorNoError);
    EXPECT_EQ(y_, (std::vector<float>{12, 24}));
    for (size_t i = skip + bytes; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0x55);
  }
}

TEST_F(GraphExecutorTest, PortsOfTheApplication) {
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&table, 0));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &table, 0, memory.data(), memory.size()),
            kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_Run(&executor_), kTvmErrorExecutorModuleBadContext);
  EXPECT_EQ(TVMGraphExecutor_SetPort(&executor_, 0, a_.data()), kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_SetPort(&executor_, 1, b_.data()), kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_SetPort(&executor_, 2, y_.data()), kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_SetPort(&executor_, 3, y_.data()), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMGraphExecutor_GetPort(&executor_, 2), y_.data());
  EXPECT_EQ(TVMGraphExecutor_GetPort(&executor_, -1), nullptr);
  EXPECT_EQ(TVMGraphExecutor_Run(&executor_), 0);
  EXPECT_EQ(y_, (std::vector<float>{12, 24}));
}

TEST_F(GraphExecutorTest, PortsWithoutMemory) {
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&table, 0));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &table, 0, memory.data(), memory.size()),
            kTvmErrorNoError);
  DLTensor a = Wrap(a_, shape_);
  EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &a), kTvmErrorExecutorModuleBadContext);
  EXPECT_STREQ(TVMGetLastError(), "the input has no memory");
  EXPECT_EQ(TVMGraphExecutor_GetOutput(&executor_, 0, &a), kTvmErrorExecutorModuleBadContext);
  EXPECT_STREQ(TVMGetLastError(), "the output has no memory");
  EXPECT_EQ(TVMGraphExecutor_SetPort(&executor_, -1, a_.data()), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMGraphExecutor_GetPort(&executor_, 3), nullptr);
}

// A port of 0 bytes needs no memory.
TEST_F(GraphExecutorTest, EmptyPorts) {
  GraphTable empty = table;
  const GraphPort ports[] = {{"a", 0, 0}, {"b", 1, 0}, {"y", 3, 0}};
  empty.ports = ports;
  empty.num_calls = 0;
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&empty, 0));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &empty, 0, memory.data(), memory.size()),
            kTvmErrorNoError);
  EXPECT_EQ(TVMGraphExecutor_Run(&executor_), 0);
}

// Tensors that differ from the port in one property each.
TEST_F(GraphExecutorTest, TensorsAreComparedWithThePort) {
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&table, 1));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &table, 1, memory.data(), memory.size()),
            kTvmErrorNoError);
  std::vector<int64_t> other_shape = {3}, other_rank = {1, 2};
  std::vector<DLTensor> wrong(4, Wrap(a_, shape_));
  wrong[0].dtype.code = kDLInt;
  wrong[1].dtype.lanes = 2;
  wrong[2].shape = other_shape.data();
  wrong[3] = Wrap(a_, other_rank);
  for (DLTensor& tensor : wrong) {
    EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &tensor), kTvmErrorFunctionCallInvalidArg);
    EXPECT_EQ(TVMGraphExecutor_GetOutput(&executor_, 0, &tensor), kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT_EQ(TVMGraphExecutor_GetOutput(&executor_, -1, &wrong[0]), kTvmErrorFunctionCallInvalidArg);
  EXPECT_STREQ(TVMGetLastError(), "the model has no such output");
}

// Strides of a compact tensor are accepted. The stride of a dimension of size 1 may have any value.
TEST_F(GraphExecutorTest, StridesOfCompactTensors) {
  const int64_t shape[] = {1, 2}, strides[] = {7, 1};
  const GraphTensor tensors[] = {{shape, 2, kFloat32, 0, 0}, {shape, 2, kFloat32, 1, 0}};
  const GraphPort ports[] = {{"a", 0, 8}, {"y", 1, 8}};
  const GraphTable copy = {
      KILN_GRAPH_TABLE_VERSION, "m", tensors, 2, nullptr, 0, ports, 1, 1, 0, 0};
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&copy, 1));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &copy, 1, memory.data(), memory.size()),
            kTvmErrorNoError);
  std::vector<int64_t> tensor_shape(shape, shape + 2), tensor_strides(strides, strides + 2);
  DLTensor a = Wrap(a_, tensor_shape);
  a.strides = tensor_strides.data();
  EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &a), kTvmErrorNoError);
  const auto* port = static_cast<const float*>(TVMGraphExecutor_GetPort(&executor_, 0));
  EXPECT_EQ(std::vector<float>(port, port + 2), a_);
}

TEST_F(GraphExecutorTest, SaysWhatIsWrong) {
  std::vector<uint8_t> memory(TVMGraphExecutor_MemoryBytes(&table, 1));
  ASSERT_EQ(TVMGraphExecutor_Init(&executor_, &table, 1, memory.data(), memory.size()),
            kTvmErrorNoError);
  DLTensor a = Wrap(a_, shape_);
  EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "c", &a), kTvmErrorExecutorModuleNoSuchInput);
  EXPECT_STREQ(TVMGetLastError(), "the model has no such input");
  a.dtype.bits = 64;
  EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &a), kTvmErrorFunctionCallInvalidArg);
  int64_t stride = 2;
  a = Wrap(a_, shape_);
  a.strides = &stride;
  EXPECT_EQ(TVMGraphExecutor_SetInput(&executor_, "a", &a), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMGraphExecutor_GetOutput(&executor_, 1, &a), kTvmErrorFunctionCallInvalidArg);
  fail_at = 1;
  EXPECT_EQ(TVMGraphExecutor_Run(&executor_), -7);
  GraphTable other = table;
  other.version = 2;
  EXPECT_EQ(TVMGraphExecutor_Init(&executor_, &other, 1, memory.data(), memory.size()),
            kTvmErrorFunctionCallInvalidArg);
}

}  // namespace
