// SPDX-License-Identifier: Apache-2.0
// A compiled model on the C runtime. Each call of the platform fails in turn, those of an executor
// and those of the model's functions. The code is returned, a lack of memory has a text, all memory
// is freed, and the next call works. KILN_GRAPH selects the graph executor.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "tvm/runtime/crt/aot_executor.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/graph_executor.h"
#include "tvm/runtime/crt/module.h"
#include "tvm/runtime/crt/platform.h"

namespace {

int calls = 0, failing = -1, open_blocks = 0;

bool Fails() { return calls++ == failing; }

}  // namespace

extern "C" {

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice, void** out) {
  if (Fails()) return kTvmErrorPlatformNoMemory;
  *out = std::aligned_alloc(64, (num_bytes + 63) / 64 * 64);
  ++open_blocks;
  return kTvmErrorNoError;
}

// Frees the memory even if the call fails.
tvm_crt_error_t TVMPlatformMemoryFree(void* memory, DLDevice) {
  std::free(memory);
  --open_blocks;
  return Fails() ? kTvmErrorPlatformStackAllocBadFree : kTvmErrorNoError;
}

void TVMPlatformAbort(tvm_crt_error_t) { std::abort(); }

#ifdef KILN_GRAPH
extern const struct GraphTable KILN_GRAPH;
#endif
}

namespace {

constexpr size_t kX = 8 * 16, kY = 16 * 16;
constexpr DLDevice kCpu = {kDLCPU, 0};

using Numbers = std::vector<float>;

// Runs with x = 0.5 and y = 0, 1, 2, …. Returns the error code, and sets `numbers` if it is 0.
#ifdef KILN_GRAPH
int RunModel(Numbers& numbers) {
  const size_t bytes = TVMGraphExecutor_MemoryBytes(&KILN_GRAPH, 1);
  void* memory = nullptr;
  int error = TVMPlatformMemoryAllocate(bytes, kCpu, &memory);
  if (error != 0) return error;
  TVMGraphExecutor executor;
  error = TVMGraphExecutor_Init(&executor, &KILN_GRAPH, 1, memory, bytes);
  if (error == 0) {
    std::fill_n(static_cast<float*>(TVMGraphExecutor_GetPort(&executor, 0)), kX, 0.5F);
    auto* const y = static_cast<float*>(TVMGraphExecutor_GetPort(&executor, 1));
    for (size_t i = 0; i < kY; ++i) y[i] = static_cast<float>(i);
    error = TVMGraphExecutor_Run(&executor);
    const auto* const out = static_cast<const float*>(TVMGraphExecutor_GetPort(&executor, 2));
    numbers.assign(out, out + kX);
  }
  const int freed = TVMPlatformMemoryFree(memory, kCpu);
  return error != 0 ? error : freed;
}
#else
int RunModel(Numbers& numbers) {
  TVMModuleHandle module;
  TVMAotExecutor* executor = nullptr;
  int error = TVMInitializeRuntime();
  if (error == 0) error = TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &module);
  if (error == 0) error = TVMAotExecutor_Create(module, kCpu, &executor, KILN_AOT);
  if (error != 0) return error;
  std::fill_n(static_cast<float*>(TVMAotExecutor_GetInput(executor, 0)->data), kX, 0.5F);
  auto* const y = static_cast<float*>(TVMAotExecutor_GetInput(executor, 1)->data);
  for (size_t i = 0; i < kY; ++i) y[i] = static_cast<float>(i);
  error = TVMAotExecutor_Run(executor);
  const auto* const out = static_cast<const float*>(TVMAotExecutor_GetOutput(executor, 0)->data);
  numbers.assign(out, out + kX);
  const int released = TVMAotExecutor_Release(executor, kCpu);
  return error != 0 ? error : released;
}
#endif

TEST(RuntimeCrt, EveryCallOfThePlatformFails) {
  Numbers wanted;
  calls = 0;
  ASSERT_EQ(RunModel(wanted), 0) << TVMGetLastError();
  EXPECT_EQ(wanted.front(), 60);  // 0.5 * (0 + 1 + … + 15)
  EXPECT_EQ(open_blocks, 0);
  const int points = calls;
#ifdef KILN_GRAPH
  EXPECT_EQ(points, 4) << "memory of the executor and scratch memory, taken and given back";
  constexpr int kRuntimeAllocates = 1;  // the test itself allocates the executor's memory
#else
  EXPECT_EQ(points, 2);
  constexpr int kRuntimeAllocates = 0;
#endif
  for (int point = 0; point < points; ++point) {
    SCOPED_TRACE(point);
    calls = 0;
    failing = point;
    TVMAPISetLastError("");
    Numbers numbers;
    EXPECT_NE(RunModel(numbers), 0);
    EXPECT_EQ(open_blocks, 0);
    if (point == kRuntimeAllocates) {
      EXPECT_STRNE(TVMGetLastError(), "");
    }
    failing = -1;
    EXPECT_EQ(RunModel(numbers), 0) << "the next call: " << TVMGetLastError();
    EXPECT_EQ(numbers, wanted);
    EXPECT_EQ(open_blocks, 0);
  }
}

}  // namespace
