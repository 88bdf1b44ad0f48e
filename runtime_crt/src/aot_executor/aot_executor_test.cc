// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/aot_executor.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/module.h"

namespace {

// A model, y = 2 * x + z, that needs a workspace of 64 bytes.
const int64_t kShape[] = {3}, kPoolShape[] = {64};
const TVMTensorInfo kInputs[] = {{"x", kShape, 1, {kDLFloat, 32, 1}},
                                 {"z", kShape, 1, {kDLFloat, 32, 1}}};
const TVMTensorInfo kOutputs[] = {{"output0", kShape, 1, {kDLFloat, 32, 1}}};
const TVMTensorInfo kPools[] = {{"workspace", kPoolShape, 1, {kDLUInt, 8, 1}}};
TVMMetadata metadata = {
    TVM_METADATA_VERSION, kInputs, 2, kOutputs, 1, kPools, 1, nullptr, 0, "tvmgen_m"};

// Make the getter of the metadata return an error, or success without a handle.
int getter_error = 0;
bool getter_is_mute = false;

int GetMetadata(TVMValue*, int*, int, TVMValue* ret, int* ret_code, void*) {
  if (getter_error != 0 || getter_is_mute) return getter_error;
  ret->v_handle = &metadata;
  *ret_code = kTVMOpaqueHandle;
  return 0;
}

int Main(TVMValue* args, int* codes, int num_args, TVMValue*, int*, void*) {
  if (num_args != 4) return -1;
  float* data[4];
  for (int i = 0; i < 4; ++i) {
    const auto* tensor = static_cast<const DLTensor*>(args[i].v_handle);
    if (codes[i] != kTVMDLTensorHandle || tensor->shape[0] != (i == 3 ? 64 : 3)) return -1;
    data[i] = static_cast<float*>(tensor->data);
    if (reinterpret_cast<uintptr_t>(data[i]) % TVM_CRT_TENSOR_ALIGNMENT_BYTES != 0) return -1;
  }
  for (int i = 0; i < 3; ++i) data[3][i] = 2 * data[0][i];
  for (int i = 0; i < 3; ++i) data[2][i] = data[3][i] + data[1][i];
  return 0;
}

const uint16_t kTwo = 2;
const std::string kNames = std::string(reinterpret_cast<const char*>(&kTwo), 2) +
                           std::string("tvmgen_m___tvm_main__\0tvmgen_m_get_c_metadata\0", 46) +
                           std::string(1, '\0');
const TVMBackendPackedCFunc kFuncs[] = {Main, GetMetadata};
const TVMFuncRegistry kRegistry = {kNames.data(), kFuncs};
const TVMModule kModule = {&kRegistry};

}  // namespace

extern "C" const TVMModule* TVMSystemLibEntryPoint(void) { return &kModule; }

namespace {

class AotExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
    ASSERT_EQ(TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &module_), kTvmErrorNoError);
    metadata.version = TVM_METADATA_VERSION;
  }

  void ExpectRuns(TVMAotExecutor* executor) {
    EXPECT_EQ(TVMAotExecutor_GetNumInputs(executor), 2);
    EXPECT_EQ(TVMAotExecutor_GetNumOutputs(executor), 1);
    EXPECT_EQ(TVMAotExecutor_GetInputIndex(executor, "z"), 1);
    EXPECT_EQ(TVMAotExecutor_GetInputIndex(executor, "y"), -1);
    EXPECT_EQ(TVMAotExecutor_GetInput(executor, -1), nullptr);
    EXPECT_EQ(TVMAotExecutor_GetInput(executor, 2), nullptr);
    EXPECT_EQ(TVMAotExecutor_GetOutput(executor, 1), nullptr);
    EXPECT_EQ(TVMAotExecutor_GetOutput(executor, -1), nullptr);
    const float x[] = {1, 2, 3}, z[] = {10, 20, 30};
    memcpy(TVMAotExecutor_GetInput(executor, 0)->data, x, sizeof(x));
    memcpy(TVMAotExecutor_GetInput(executor, 1)->data, z, sizeof(z));
    ASSERT_EQ(TVMAotExecutor_Run(executor), 0);
    const auto* y = static_cast<const float*>(TVMAotExecutor_GetOutput(executor, 0)->data);
    EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{12, 24, 36}));
  }

  TVMModuleHandle module_;
  const DLDevice cpu_ = {kDLCPU, 0};
};

TEST_F(AotExecutorTest, RunsInAnyMemoryThatIsLargeEnough) {
  const size_t bytes = TVMAotExecutor_MemoryBytes(&metadata);
  std::vector<uint8_t> memory(bytes + 8, 0x55);
  TVMAotExecutor executor;
  EXPECT_EQ(TVMAotExecutor_Init(&executor, module_, cpu_, "m", memory.data(), bytes - 1),
            kTvmErrorPlatformNoMemory);
  for (size_t skip = 0; skip < 8; ++skip) {
    ASSERT_EQ(TVMAotExecutor_Init(&executor, module_, cpu_, "m", memory.data() + skip, bytes),
              kTvmErrorNoError);
    ExpectRuns(&executor);
    for (size_t i = skip + bytes; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0x55);
  }
}

TEST_F(AotExecutorTest, RunsInMemoryOfThePlatform) {
  TVMAotExecutor* executor = nullptr;
  ASSERT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"), kTvmErrorNoError);
  ExpectRuns(executor);
  EXPECT_EQ(TVMAotExecutor_Release(executor, cpu_), kTvmErrorNoError);
}

// The compiler accepts names of up to 128 characters.
TEST_F(AotExecutorTest, NamesOfModelsHaveUpTo128Characters) {
  const std::string name(128, 'm'), prefix = "tvmgen_" + name, end(1, '\0');
  const std::string names =
      kNames.substr(0, 2) + prefix + "___tvm_main__" + end + prefix + "_get_c_metadata" + end + end;
  const TVMFuncRegistry registry = {names.data(), kFuncs};
  const TVMModule long_name = {&registry};
  TVMModuleHandle module;
  ASSERT_EQ(TVMModCreateFromCModule(&long_name, &module), kTvmErrorNoError);
  metadata.mod_name = prefix.c_str();
  TVMAotExecutor* executor = nullptr;
  EXPECT_EQ(TVMAotExecutor_Create(module, cpu_, &executor, name.c_str()), kTvmErrorNoError)
      << TVMGetLastError();
  if (executor != nullptr) {
    ExpectRuns(executor);
    EXPECT_EQ(TVMAotExecutor_Release(executor, cpu_), kTvmErrorNoError);
  }
  EXPECT_EQ(TVMAotExecutor_Create(module, cpu_, &executor, (name + "m").c_str()),
            kTvmErrorFunctionNameNotFound);
  EXPECT_STREQ(TVMGetLastError(), "the name of the model is too long");
  metadata.mod_name = "tvmgen_m";
}

TEST_F(AotExecutorTest, CreateSaysWhatIsWrong) {
  TVMAotExecutor* executor = nullptr;
  EXPECT_EQ(TVMAotExecutor_Create(module_, {kDLCUDA, 0}, &executor, "m"),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_STREQ(TVMGetLastError(), "the platform has no memory on the device for the executor");
  TVMAPISetLastError("");
  const int64_t shape[] = {INT64_MAX / 8};
  const TVMTensorInfo huge[] = {{"output0", shape, 1, {kDLFloat, 32, 1}}};
  metadata.outputs = huge;
  EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"), kTvmErrorPlatformNoMemory);
  EXPECT_STREQ(TVMGetLastError(), "the platform has no memory on the device for the executor");
  metadata.outputs = kOutputs;
}

TEST_F(AotExecutorTest, SizesThatNoMemoryHasDoNotWrapAround) {
  const std::vector<std::vector<int64_t>> shapes = {
      {int64_t{1} << 32, int64_t{1} << 32}, {INT64_MAX, 2}, {-1}, {int64_t{1} << 62, 1}};
  for (const std::vector<int64_t>& shape : shapes) {
    const TVMTensorInfo huge[] = {
        {"output0", shape.data(), static_cast<int64_t>(shape.size()), {kDLFloat, 32, 1}}};
    metadata.outputs = huge;
    std::vector<uint8_t> memory(4096);
    TVMAotExecutor own;
    TVMAotExecutor* executor = nullptr;
    EXPECT_EQ(TVMAotExecutor_Init(&own, module_, cpu_, "m", memory.data(), memory.size()),
              kTvmErrorPlatformNoMemory);
    EXPECT_EQ(TVMAotExecutor_Init(&own, module_, cpu_, "m", memory.data(), SIZE_MAX),
              kTvmErrorPlatformNoMemory);
    EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"), kTvmErrorPlatformNoMemory);
  }
  metadata.outputs = kOutputs;
}

TEST_F(AotExecutorTest, TensorsTakeWhatTheirTypesTake) {
  const auto bytes = [](std::vector<int64_t> shape, DLDataType dtype) {
    const TVMTensorInfo output[] = {
        {"output0", shape.data(), static_cast<int64_t>(shape.size()), dtype}};
    metadata.outputs = output;
    const size_t result = TVMAotExecutor_MemoryBytes(&metadata);
    metadata.outputs = kOutputs;
    return result;
  };
  const size_t empty = bytes({0}, {kDLFloat, 32, 1});
  const size_t step = TVM_CRT_TENSOR_ALIGNMENT_BYTES;
  EXPECT_EQ(bytes({int64_t{1} << 32, int64_t{1} << 32, 0}, {kDLFloat, 32, 1}), empty);
  EXPECT_EQ(bytes({16}, {kDLUInt, 1, 1}), empty + (16 + step - 1) / step * step);
  EXPECT_EQ(bytes({16}, {kDLFloat, 32, 4}), empty + 256);
  EXPECT_EQ(bytes({17}, {kDLInt, 8, 1}), empty + (17 + step - 1) / step * step);
}

TEST_F(AotExecutorTest, SaysWhatIsWrong) {
  std::vector<uint8_t> memory(4096);
  TVMAotExecutor executor;
  EXPECT_EQ(TVMAotExecutor_Init(&executor, module_, cpu_, "other", memory.data(), memory.size()),
            kTvmErrorFunctionNameNotFound);
  EXPECT_STREQ(TVMGetLastError(), "the module has no metadata of that model");
  EXPECT_EQ(
      TVMAotExecutor_Init(&executor, module_, {kDLCUDA, 0}, "m", memory.data(), memory.size()),
      kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMAotExecutor_Init(&executor, module_, cpu_, std::string(200, 'm').c_str(),
                                memory.data(), memory.size()),
            kTvmErrorFunctionNameNotFound);
  metadata.version = 99;
  EXPECT_EQ(TVMAotExecutor_Init(&executor, module_, cpu_, "m", memory.data(), memory.size()),
            kTvmErrorFunctionCallInvalidArg);
  EXPECT_STREQ(TVMGetLastError(), "the metadata is of another version");
}

TEST_F(AotExecutorTest, MetadataThatCannotBeHad) {
  TVMAotExecutor* executor = nullptr;
  getter_error = 77;
  EXPECT_EQ(static_cast<int>(TVMAotExecutor_Create(module_, cpu_, &executor, "m")), 77);
  getter_error = 0;
  getter_is_mute = true;
  EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"),
            kTvmErrorFunctionCallWrongArgType);
  EXPECT_STREQ(TVMGetLastError(), "the function for metadata returns none");
  getter_is_mute = false;
  EXPECT_EQ(executor, nullptr);
}

// Errors that occur after the allocation must free the memory.
TEST_F(AotExecutorTest, MetadataOfModelsThatCannotRun) {
  TVMAotExecutor* executor = nullptr;
  metadata.num_constant_pools = 1;
  EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"),
            kTvmErrorFunctionCallNotImplemented);
  EXPECT_STREQ(TVMGetLastError(), "the model wants constant pools to be loaded");
  metadata.num_constant_pools = 0;
  metadata.mod_name = "tvmgen_other";
  EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"), kTvmErrorFunctionNameNotFound);
  EXPECT_STREQ(TVMGetLastError(), "the module has no entry function");
  const std::string name(300, 'm');
  metadata.mod_name = name.c_str();
  EXPECT_EQ(TVMAotExecutor_Create(module_, cpu_, &executor, "m"), kTvmErrorFunctionNameNotFound);
  EXPECT_STREQ(TVMGetLastError(), "the name of the model is too long");
  metadata.mod_name = "tvmgen_m";
  EXPECT_EQ(executor, nullptr);
}

}  // namespace
