// SPDX-License-Identifier: Apache-2.0
//
// Tests of the C API only, as another language uses it.
#include "tvm/runtime/c_runtime_api.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tvm/runtime/c_backend_api.h"

namespace {

using ::testing::HasSubstr;

TVMFunctionHandle Get(TVMModuleHandle module, const char* name) {
  TVMFunctionHandle function = nullptr;
  EXPECT_EQ(TVMModGetFunction(module, name, 0, &function), 0) << TVMGetLastError();
  EXPECT_NE(function, nullptr) << name;
  return function;
}

// Calls a function and frees it.
int Call(TVMFunctionHandle function, std::vector<TVMValue> values, std::vector<int> codes,
         TVMValue* result, int* code) {
  const int status = TVMFuncCall(function, values.data(), codes.data(),
                                 static_cast<int>(values.size()), result, code);
  EXPECT_EQ(TVMFuncFree(function), 0);
  return status;
}

TVMArrayHandle Array(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  TVMArrayHandle array = nullptr;
  EXPECT_EQ(TVMArrayAlloc(&size, 1, kDLFloat, 32, 1, kDLCPU, 0, &array), 0);
  EXPECT_EQ(TVMArrayCopyFromBytes(array, values.data(), values.size() * sizeof(float)), 0);
  return array;
}

TEST(CApi, RunsAModel) {
  TVMModuleHandle factory = nullptr;
  ASSERT_EQ(TVMModLoadFromFile("runtime_cpp/testdata/add_aot.so", "so", &factory), 0)
      << TVMGetLastError();
  TVMValue result;
  int code = 0;
  ASSERT_EQ(
      Call(Get(factory, "add"), {TVMValue{.v_device = {kDLCPU, 0}}}, {kDLDevice}, &result, &code),
      0)
      << TVMGetLastError();
  ASSERT_EQ(code, kTVMModuleHandle);
  TVMModuleHandle executor = result.v_handle;
  // An executor outlives the handle of its factory.
  EXPECT_EQ(TVMModFree(factory), 0);

  TVMArrayHandle input = Array({1, 2, 3, 4});
  for (const char* const name : {"x", "y:0"}) {
    ASSERT_EQ(Call(Get(executor, "set_input"), {{.v_str = name}, {.v_handle = input}},
                   {kTVMStr, kTVMNDArrayHandle}, &result, &code),
              0)
        << TVMGetLastError();
  }
  ASSERT_EQ(Call(Get(executor, "run"), {}, {}, &result, &code), 0) << TVMGetLastError();
  EXPECT_EQ(code, kTVMNullptr);
  ASSERT_EQ(Call(Get(executor, "get_output"), {{.v_int64 = 0}}, {kTVMArgInt}, &result, &code), 0);
  ASSERT_EQ(code, kTVMNDArrayHandle);
  auto* const output = static_cast<TVMArrayHandle>(result.v_handle);
  float values[4];
  ASSERT_EQ(TVMArrayCopyToBytes(output, values, sizeof(values)), 0);
  EXPECT_THAT(values, testing::ElementsAre(3, 6, 9, 12));

  EXPECT_EQ(TVMArrayFree(input), 0);
  EXPECT_EQ(TVMArrayFree(output), 0);
  EXPECT_EQ(TVMModFree(executor), 0);
}

TEST(CApi, ErrorsHaveTextPerThread) {
  TVMModuleHandle module = nullptr;
  EXPECT_NE(TVMModLoadFromFile("missing.so", "", &module), 0);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("missing.so"));
  std::thread([] { EXPECT_STREQ(TVMGetLastError(), ""); }).join();
  EXPECT_NE(TVMModLoadFromFile("missing.so", "hexagon", &module), 0);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("format 'hexagon'"));
}

TEST(CApi, MissingFunctionsAreNull) {
  TVMModuleHandle factory = nullptr;
  ASSERT_EQ(TVMModLoadFromFile("runtime_cpp/testdata/add_graph.so", "", &factory), 0);
  int dummy = 0;
  TVMFunctionHandle function = &dummy;
  EXPECT_EQ(TVMModGetFunction(factory, "nothing", 1, &function), 0);
  EXPECT_EQ(function, nullptr);
  function = &dummy;
  EXPECT_EQ(TVMFuncGetGlobal("nothing", &function), 0);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(TVMModFree(factory), 0);
}

// Returns "<text><n>" for the arguments text and n.
int Join(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  if (num_args != 2 || codes[0] != kTVMStr || codes[1] != kTVMArgInt) {
    TVMAPISetLastError("join wants a string and an int");
    return -1;
  }
  ++*static_cast<int*>(resource);
  const std::string text = args[0].v_str + std::to_string(args[1].v_int64);
  TVMValue value = {.v_str = text.c_str()};
  int code = kTVMStr;
  return TVMCFuncSetReturn(ret, &value, &code, 1);
}

TEST(CApi, CallbacksAreGlobalFunctions) {
  int calls = 0;
  TVMFunctionHandle join = nullptr;
  const auto finalizer = [](void* resource) { *static_cast<int*>(resource) += 100; };
  ASSERT_EQ(TVMFuncCreateFromCFunc(Join, &calls, finalizer, &join), 0);
  ASSERT_EQ(TVMFuncRegisterGlobal("test.join", join, 0), 0);
  EXPECT_NE(TVMFuncRegisterGlobal("test.join", join, 0), 0);
  ASSERT_EQ(TVMFuncFree(join), 0);

  int size = 0;
  const char** names = nullptr;
  ASSERT_EQ(TVMFuncListGlobalNames(&size, &names), 0);
  EXPECT_THAT(std::vector<std::string>(names, names + size),
              testing::IsSupersetOf({"runtime.SystemLib", "test.join"}));

  // Compiled code finds the function, too, and does not own it.
  TVMFunctionHandle found = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("test.join", &found), 0);
  TVMValue result;
  int code = 0;
  ASSERT_EQ(Call(found, {{.v_str = "a"}, {.v_int64 = 7}}, {kTVMStr, kTVMArgInt}, &result, &code),
            0);
  EXPECT_EQ(code, kTVMStr);
  EXPECT_STREQ(result.v_str, "a7");
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(TVMFuncGetGlobal("test.join", &found), 0);
  EXPECT_NE(Call(found, {}, {}, &result, &code), 0);
  EXPECT_STREQ(TVMGetLastError(), "join wants a string and an int");
  EXPECT_EQ(TVMFuncRemoveGlobal("test.join"), 0);
  EXPECT_NE(TVMFuncRemoveGlobal("test.join"), 0);
  EXPECT_EQ(calls, 101);
}

TVMFunctionHandle GetGlobal(const char* name) {
  TVMFunctionHandle function = nullptr;
  EXPECT_EQ(TVMFuncGetGlobal(name, &function), 0);
  EXPECT_NE(function, nullptr) << name;
  return function;
}

TEST(CApi, GlobalFunctionsOnModules) {
  TVMValue result;
  int code = 0;
  ASSERT_EQ(Call(GetGlobal("runtime.ModuleLoadFromFile"),
                 {{.v_str = "runtime_cpp/testdata/add_graph.so"}, {.v_str = "so"}},
                 {kTVMStr, kTVMStr}, &result, &code),
            0)
      << TVMGetLastError();
  ASSERT_EQ(code, kTVMModuleHandle);
  const TVMModuleHandle factory = result.v_handle;
  ASSERT_EQ(Call(GetGlobal("runtime.ModuleGetTypeKey"), {{.v_handle = factory}}, {kTVMModuleHandle},
                 &result, &code),
            0);
  EXPECT_STREQ(result.v_str, "GraphExecutorFactory");
  ASSERT_EQ(Call(GetGlobal("runtime.ModuleImportsSize"), {{.v_handle = factory}},
                 {kTVMModuleHandle}, &result, &code),
            0);
  EXPECT_EQ(result.v_int64, 1);
  const auto get_import = [&](int64_t index) {
    return Call(GetGlobal("runtime.ModuleGetImport"), {{.v_handle = factory}, {.v_int64 = index}},
                {kTVMModuleHandle, kTVMArgInt}, &result, &code);
  };
  EXPECT_NE(get_import(1), 0);
  EXPECT_STREQ(TVMGetLastError(), "runtime.ModuleGetImport: import 1: the module has 1 imports");
  ASSERT_EQ(get_import(0), 0);
  const TVMModuleHandle library = result.v_handle;

  ASSERT_EQ(Call(Get(factory, "get_graph_json"), {}, {}, &result, &code), 0);
  const std::string json = result.v_str;
  ASSERT_EQ(
      Call(GetGlobal("tvm.graph_executor.create"),
           {{.v_str = json.c_str()}, {.v_handle = library}, {.v_int64 = kDLCPU}, {.v_int64 = 0}},
           {kTVMStr, kTVMModuleHandle, kTVMArgInt, kTVMArgInt}, &result, &code),
      0)
      << TVMGetLastError();
  const TVMModuleHandle executor = result.v_handle;
  ASSERT_EQ(Call(GetGlobal("runtime.ModuleGetTypeKey"), {{.v_handle = executor}},
                 {kTVMModuleHandle}, &result, &code),
            0);
  EXPECT_STREQ(result.v_str, "GraphExecutor");

  ASSERT_EQ(Call(GetGlobal("tvm.graph_executor_factory.create"),
                 {{.v_str = json.c_str()}, {.v_handle = library}, {.v_str = "mine"}},
                 {kTVMStr, kTVMModuleHandle, kTVMStr}, &result, &code),
            0)
      << TVMGetLastError();
  const TVMModuleHandle mine = result.v_handle;
  EXPECT_EQ(
      Call(Get(mine, "mine"), {TVMValue{.v_device = {kDLCPU, 0}}}, {kDLDevice}, &result, &code), 0)
      << TVMGetLastError();
  EXPECT_EQ(TVMModFree(result.v_handle), 0);
  for (const TVMModuleHandle module : {mine, executor, library, factory}) {
    EXPECT_EQ(TVMModFree(module), 0);
  }
  EXPECT_NE(Call(GetGlobal("runtime.SystemLib"), {}, {}, &result, &code), 0);
  EXPECT_STREQ(TVMGetLastError(), "runtime.SystemLib: no model is linked into this program");
}

TEST(CApi, CodeFindsGlobalFunctions) {
  int calls = 0;
  TVMFunctionHandle join = nullptr;
  ASSERT_EQ(TVMFuncCreateFromCFunc(Join, &calls, nullptr, &join), 0);
  ASSERT_EQ(TVMFuncRegisterGlobal("test.env", join, 0), 0);
  ASSERT_EQ(TVMFuncFree(join), 0);
  TVMFunctionHandle first = nullptr;
  TVMFunctionHandle second = nullptr;
  ASSERT_EQ(TVMBackendGetFuncFromEnv(nullptr, "test.env", &first), 0);
  ASSERT_EQ(TVMBackendGetFuncFromEnv(nullptr, "test.env", &second), 0);
  EXPECT_EQ(first, second);
  EXPECT_NE(TVMBackendGetFuncFromEnv(nullptr, "test.nobody", &first), 0);
  EXPECT_EQ(TVMFuncRemoveGlobal("test.env"), 0);
}

TEST(CApi, ArraysShareMemoryThroughDLPack) {
  TVMArrayHandle array = Array({1, 2});
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(TVMArrayToDLPack(array, &managed), 0);
  EXPECT_EQ(TVMArrayFree(array), 0);
  TVMArrayHandle back = nullptr;
  ASSERT_EQ(TVMArrayFromDLPack(managed, &back), 0);
  TVMArrayHandle copy = Array({0, 0});
  ASSERT_EQ(TVMArrayCopyFromTo(back, copy, nullptr), 0);
  EXPECT_EQ(static_cast<float*>(copy->data)[1], 2);
  EXPECT_EQ(TVMArrayFree(back), 0);
  EXPECT_EQ(TVMArrayFree(copy), 0);
}

TEST(CApi, DeviceMemory) {
  void* memory = nullptr;
  ASSERT_EQ(TVMDeviceAllocDataSpace({kDLCPU, 0}, 100, 256, {kDLInt, 8, 1}, &memory), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  EXPECT_EQ(TVMDeviceFreeDataSpace({kDLCPU, 0}, memory), 0);
  EXPECT_EQ(TVMSynchronize(kDLCPU, 0, nullptr), 0);
  EXPECT_NE(TVMSynchronize(kDLCUDA, 0, nullptr), 0);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("cuda:0"));
}

TEST(BackendApi, WorkspacesAndRunOnce) {
  void* const memory = TVMBackendAllocWorkspace(kDLCPU, 0, 1000, kDLFloat, 32);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 128, 0u);
  EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, memory), 0);
  EXPECT_NE(TVMBackendFreeWorkspace(kDLCPU, 0, memory), 0);
  EXPECT_EQ(TVMBackendAllocWorkspace(kDLCUDA, 0, 1, kDLFloat, 32), nullptr);

  static void* once = nullptr;
  int calls = 0;
  const auto count = [](void* data) { return ++*static_cast<int*>(data) == 1 ? 0 : -1; };
  EXPECT_EQ(TVMBackendRunOnce(&once, count, &calls, sizeof(calls)), 0);
  EXPECT_EQ(TVMBackendRunOnce(&once, count, &calls, sizeof(calls)), 0);
  EXPECT_EQ(calls, 1);
}

}  // namespace
