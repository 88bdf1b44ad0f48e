// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/module.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "tvm/runtime/crt/crt.h"

namespace {

void* last_resource;

int Add(TVMValue* args, int*, int num_args, TVMValue* ret, int* ret_code, void* resource) {
  last_resource = resource;
  if (num_args != 2) {
    TVMAPISetLastError("Add takes two");
    return -1;
  }
  ret->v_int64 = args[0].v_int64 + args[1].v_int64;
  *ret_code = kTVMArgInt;
  return 0;
}

const uint16_t kOne = 1;
const std::string kNames =
    std::string(reinterpret_cast<const char*>(&kOne), 2) + "add" + std::string(2, '\0');
const TVMBackendPackedCFunc kFuncs[] = {Add};
const TVMFuncRegistry kRegistry = {kNames.data(), kFuncs};
const TVMModule kModule = {&kRegistry};

}  // namespace

extern "C" const TVMModule* TVMSystemLibEntryPoint(void) { return &kModule; }

namespace {

class ModuleTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError); }

  int Call(TVMFunctionHandle f, std::initializer_list<int64_t> ints) {
    TVMValue args[4];
    int codes[4] = {};
    int n = 0;
    for (int64_t v : ints) args[n++].v_int64 = v;
    return TVMFuncCall(f, args, codes, n, &result_, &code_);
  }

  TVMValue result_;
  int code_ = 0;
};

TEST_F(ModuleTest, SystemLibIsTheFirstModule) {
  TVMFunctionHandle get;
  ASSERT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &get), 0);
  ASSERT_EQ(Call(get, {}), 0);
  EXPECT_EQ(code_, kTVMModuleHandle);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(result_.v_handle), 0x8000u);
  TVMFunctionHandle add;
  ASSERT_EQ(TVMModGetFunction(result_.v_handle, "add", 0, &add), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(add), 0x80008000u);
  ASSERT_EQ(Call(add, {2, 3}), 0);
  EXPECT_EQ(result_.v_int64, 5);
  EXPECT_EQ(last_resource, &kRegistry);
}

TEST_F(ModuleTest, ErrorsHaveCodesAndTexts) {
  TVMFunctionHandle f = nullptr;
  TVMModuleHandle module = reinterpret_cast<void*>(0x8000u);
  EXPECT_EQ(TVMModGetFunction(module, "sub", 0, &f), 0x100);
  EXPECT_STREQ(TVMGetLastError(), "the module has no function of that name");
  EXPECT_EQ(TVMModGetFunction(reinterpret_cast<void*>(0x8001u), "add", 0, &f), 0x101);
  EXPECT_EQ(TVMModGetFunction(nullptr, "add", 0, &f), 0x101);
  EXPECT_EQ(TVMFuncGetGlobal("add", &f), 0x100);
  EXPECT_EQ(Call(reinterpret_cast<void*>(0x80008001u), {}), 0x101);
  EXPECT_EQ(Call(nullptr, {}), 0x101);
  ASSERT_EQ(TVMModGetFunction(module, "add", 0, &f), 0);
  EXPECT_EQ(Call(f, {1}), -1);
  EXPECT_STREQ(TVMGetLastError(), "Add takes two");
  TVMAPISetLastError(std::string(5000, 'x').c_str());
  EXPECT_EQ(std::string(TVMGetLastError()), std::string(255, 'x'));
}

TEST_F(ModuleTest, HandlesOfOtherThings) {
  TVMFunctionHandle f = nullptr;
  // A module number that is too high, a number without the bit of a handle, and functions of such
  // modules.
  EXPECT_EQ(TVMModGetFunction(reinterpret_cast<void*>(0xffffu), "add", 0, &f), 0x101);
  EXPECT_EQ(TVMModGetFunction(reinterpret_cast<void*>(0x0001u), "add", 0, &f), 0x101);
  EXPECT_EQ(Call(reinterpret_cast<void*>(0xffff8000u), {}), 0x101);
  EXPECT_EQ(Call(reinterpret_cast<void*>(0x80018000u), {}), 0x101);
  EXPECT_EQ(Call(reinterpret_cast<void*>(0x80000000u), {}), 0x101);
  EXPECT_STREQ(TVMGetLastError(), "the handle is no function");
}

TEST_F(ModuleTest, HandlesOwnNothing) {
  TVMModuleHandle module = reinterpret_cast<void*>(0x8000u);
  TVMFunctionHandle add;
  ASSERT_EQ(TVMModGetFunction(module, "add", 0, &add), 0);
  EXPECT_EQ(TVMFuncFree(add), 0);
  EXPECT_EQ(TVMModFree(module), 0);
  ASSERT_EQ(Call(add, {2, 3}), 0);
  EXPECT_EQ(result_.v_int64, 5);
}

TEST_F(ModuleTest, SystemLibTakesNoArguments) {
  TVMFunctionHandle get;
  ASSERT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &get), 0);
  EXPECT_EQ(Call(get, {1}), static_cast<int>(kTvmErrorFunctionCallNumArguments));
}

TEST_F(ModuleTest, GlobalFunctions) {
  TVMFunctionHandle pointer, f;
  TVMBackendPackedCFunc add = Add;
  memcpy(&pointer, &add, sizeof(pointer));
  EXPECT_EQ(TVMFuncRegisterGlobal("global_add", pointer, 0), 0);
  EXPECT_EQ(TVMFuncRegisterGlobal("global_add", pointer, 0), 0x103);
  EXPECT_EQ(TVMFuncRegisterGlobal("global_add", pointer, 1), 0);
  ASSERT_EQ(TVMFuncGetGlobal("global_add", &f), 0);
  ASSERT_EQ(Call(f, {4, 5}), 0);
  EXPECT_EQ(result_.v_int64, 9);
  EXPECT_EQ(last_resource, nullptr);
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("symbol", pointer), 0);
  EXPECT_EQ(TVMFuncGetGlobal("symbol", &f), 0);

  ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  EXPECT_EQ(Call(f, {4, 5}), 0x101);
  EXPECT_EQ(TVMFuncGetGlobal("global_add", &f), 0x100);
  EXPECT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &f), 0);
}

TEST_F(ModuleTest, AsManyModulesAsConfigured) {
  TVMModuleHandle handle;
  const TVMModule second = {&kRegistry}, third = {&kRegistry};
  EXPECT_EQ(TVMModCreateFromCModule(&second, &handle), kTvmErrorNoError);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(handle), 0x8001u);
  EXPECT_EQ(TVMModCreateFromCModule(&kModule, &handle), kTvmErrorNoError);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(handle), 0x8000u);
  EXPECT_EQ(TVMModCreateFromCModule(&third, &handle), kTvmErrorFunctionRegistryFull);
  EXPECT_STREQ(TVMGetLastError(), "there are TVM_CRT_MAX_REGISTERED_MODULES modules already");
}

TEST_F(ModuleTest, BackendFunctions) {
  TVMFunctionHandle f;
  EXPECT_EQ(TVMBackendGetFuncFromEnv(nullptr, "add", &f), 0);
  // There are no global functions until the program looks for one.
  EXPECT_EQ(TVMBackendGetFuncFromEnv(nullptr, "runtime.SystemLib", &f), -1);
  EXPECT_EQ(TVMFuncGetGlobal("nothing", &f), 0x100);
  EXPECT_EQ(TVMBackendGetFuncFromEnv(nullptr, "runtime.SystemLib", &f), 0);
  EXPECT_EQ(TVMBackendGetFuncFromEnv(nullptr, "nothing", &f), -1);

  void* memory = TVMBackendAllocWorkspace(kDLCPU, 0, 100, kDLFloat, 32);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  memset(memory, 1, 100);
  EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, memory), 0);
  EXPECT_EQ(TVMBackendAllocWorkspace(kDLCPU, 0, UINT64_MAX, kDLFloat, 32), nullptr);
  EXPECT_EQ(TVMBackendAllocWorkspace(kDLCUDA, 0, 100, kDLFloat, 32), nullptr);

  int tasks = 0;
  const auto count = [](int task, TVMParallelGroupEnv* env, void* data) {
    ++*static_cast<int*>(data);
    return task == 0 && env->num_task == 1 ? TVMBackendParallelBarrier(task, env) : -1;
  };
  EXPECT_EQ(TVMBackendParallelLaunch(count, &tasks, 0), 0);
  EXPECT_EQ(tasks, 1);
  EXPECT_EQ(
      TVMBackendParallelLaunch([](int, TVMParallelGroupEnv*, void*) { return 5; }, nullptr, 4), -1);

  // The runtime has no barrier for several tasks.
  TVMParallelGroupEnv two_tasks = {nullptr, 2};
  EXPECT_EQ(TVMBackendParallelBarrier(0, &two_tasks), -1);

  void* once = nullptr;
  const auto fail = [](void*) { return 7; };
  EXPECT_EQ(TVMBackendRunOnce(&once, fail, nullptr, 0), 7);
  EXPECT_EQ(once, nullptr);
  int calls = 0;
  const auto increment = [](void* data) { return ++*static_cast<int*>(data) - 1; };
  EXPECT_EQ(TVMBackendRunOnce(&once, increment, &calls, sizeof(calls)), 0);
  EXPECT_EQ(TVMBackendRunOnce(&once, increment, &calls, sizeof(calls)), 0);
  EXPECT_EQ(calls, 1);
}

}  // namespace
