// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/func_registry.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace {

int Foo(TVMValue*, int*, int, TVMValue*, int*, void*) { return 1; }
int Bar(TVMValue*, int*, int, TVMValue*, int*, void*) { return 2; }

std::string Names(uint16_t count, const std::string& names) {
  return std::string(reinterpret_cast<const char*>(&count), 2) + names + '\0';
}

TEST(FuncRegistry, EmptyHasNothing) {
  const std::string names = Names(0, "");
  const TVMFuncRegistry registry = {names.data(), nullptr};
  tvm_function_index_t index = 7;
  TVMBackendPackedCFunc func = nullptr;
  EXPECT_EQ(TVMFuncRegistry_GetNumFuncs(&registry), 0);
  EXPECT_EQ(TVMFuncRegistry_Lookup(&registry, "Foo", &index), kTvmErrorFunctionNameNotFound);
  EXPECT_EQ(index, 7);
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(&registry, 0, &func), kTvmErrorFunctionIndexInvalid);
}

TEST(FuncRegistry, FindsByNameAndIndex) {
  const std::string names = Names(2, std::string("Foo\0Bar\0", 8));
  const TVMBackendPackedCFunc funcs[] = {Foo, Bar};
  const TVMFuncRegistry registry = {names.data(), funcs};
  tvm_function_index_t index = 7;
  EXPECT_EQ(TVMFuncRegistry_Lookup(&registry, "Foo", &index), kTvmErrorNoError);
  EXPECT_EQ(index, 0);
  EXPECT_EQ(TVMFuncRegistry_Lookup(&registry, "Bar", &index), kTvmErrorNoError);
  EXPECT_EQ(index, 1);
  for (const char* missing : {"Baz", "Fo", "Fooo", ""}) {
    EXPECT_EQ(TVMFuncRegistry_Lookup(&registry, missing, &index), kTvmErrorFunctionNameNotFound);
    EXPECT_EQ(index, 1);
  }
  TVMBackendPackedCFunc func = nullptr;
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(&registry, 1, &func), kTvmErrorNoError);
  EXPECT_EQ(func, &Bar);
  EXPECT_EQ(TVMFuncRegistry_GetByIndex(&registry, 2, &func), kTvmErrorFunctionIndexInvalid);
  EXPECT_EQ(func, &Bar);
}

TEST(MutableFuncRegistry, AddsAndReplaces) {
  TVMMutableFuncRegistry registry;
  alignas(8) char buffer[100];
  ASSERT_EQ(TVMMutableFuncRegistry_Create(&registry, buffer, sizeof(buffer)), kTvmErrorNoError);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "Foo", Foo, 0), kTvmErrorNoError);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "Foo", Bar, 0), kTvmErrorFunctionAlreadyDefined);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "Bar", Bar, 0), kTvmErrorNoError);
  tvm_function_index_t index;
  TVMBackendPackedCFunc func;
  ASSERT_EQ(TVMFuncRegistry_Lookup(&registry.registry, "Foo", &index), kTvmErrorNoError);
  ASSERT_EQ(TVMFuncRegistry_GetByIndex(&registry.registry, index, &func), kTvmErrorNoError);
  EXPECT_EQ(func, &Foo);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "Foo", Bar, 1), kTvmErrorNoError);
  ASSERT_EQ(TVMFuncRegistry_GetByIndex(&registry.registry, index, &func), kTvmErrorNoError);
  EXPECT_EQ(func, &Bar);
}

TEST(MutableFuncRegistry, RefusesWhatDoesNotFit) {
  TVMMutableFuncRegistry registry;
  alignas(8) char buffer[64];
  EXPECT_EQ(TVMMutableFuncRegistry_Create(&registry, buffer, 10), kTvmErrorBufferTooSmall);
  memset(buffer, 0x55, sizeof(buffer));
  ASSERT_EQ(TVMMutableFuncRegistry_Create(&registry, buffer, 48), kTvmErrorNoError);
  ASSERT_EQ(registry.max_functions, 2u);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, std::string(60, 'x').c_str(), Foo, 0),
            kTvmErrorFunctionRegistryFull);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "a", Foo, 0), kTvmErrorNoError);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "b", Foo, 0), kTvmErrorNoError);
  EXPECT_EQ(TVMMutableFuncRegistry_Set(&registry, "c", Foo, 0), kTvmErrorFunctionRegistryFull);
  EXPECT_EQ(buffer[48], 0x55);
}

}  // namespace
