// SPDX-License-Identifier: Apache-2.0
//
// Global functions without enough memory for them. The build sets the size of the memory.
#include <string>

#include "gtest/gtest.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/module.h"

namespace {

const uint16_t kNone = 0;
const std::string kNames = std::string(reinterpret_cast<const char*>(&kNone), 2) + '\0';
const TVMFuncRegistry kRegistry = {kNames.data(), nullptr};
const TVMModule kModule = {&kRegistry};

}  // namespace

extern "C" const TVMModule* TVMSystemLibEntryPoint(void) { return &kModule; }

namespace {

void ExpectNoFunctions(tvm_crt_error_t register_error) {
  int target = 0;
  TVMFunctionHandle function = nullptr;
  TVMAPISetLastError("");
  EXPECT_EQ(TVMFuncGetGlobal("runtime.SystemLib", &function), 0x100);
  EXPECT_STREQ(TVMGetLastError(), "there is no global function of that name");
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(TVMFuncRegisterGlobal("f", &target, 0), static_cast<int>(register_error));
  EXPECT_EQ(TVMBackendRegisterSystemLibSymbol("f", &target), static_cast<int>(register_error));
}

TEST(GlobalFunctionsTest, BeforeTheRuntimeIsInitialised) {
  ExpectNoFunctions(kTvmErrorFunctionRegistryFull);
  EXPECT_STREQ(TVMGetLastError(), "TVMInitializeRuntime has not been called");
}

TEST(GlobalFunctionsTest, WithoutMemoryForTheFirst) {
  ASSERT_EQ(TVMInitializeRuntime(), kTvmErrorNoError);
  ExpectNoFunctions(TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES < 22 ? kTvmErrorBufferTooSmall
                                                                 : kTvmErrorFunctionRegistryFull);
  EXPECT_STREQ(TVMGetLastError(), "there is no room for global functions");
}

}  // namespace
