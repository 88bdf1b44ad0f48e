// SPDX-License-Identifier: Apache-2.0
//
// Modules and their functions by handle.
#include "tvm/runtime/crt/module.h"

#include <string.h>

#include "fail.h"
#include "handles.h"
#include "tvm/runtime/crt/crt.h"

#define HANDLE_BIT 0x8000u
#define FUNCTION_BITS ((HANDLE_BIT << 16) | HANDLE_BIT)

static const TVMModule* modules[TVM_CRT_MAX_REGISTERED_MODULES];
const TVMFuncRegistry* TVMHandles_globals;

static void* ToHandle(uint32_t bits) { return (void*)(uintptr_t)bits; }
static uint32_t FromHandle(const void* handle) { return (uint32_t)(uintptr_t)handle; }

// Returns the registry of a module; NULL if there is no such module.
static const TVMFuncRegistry* RegistryOf(uint32_t module) {
  if (module == TVM_CRT_GLOBAL_FUNCTIONS) return TVMHandles_globals;
  if (module > TVM_CRT_GLOBAL_FUNCTIONS || modules[module] == NULL) return NULL;
  return modules[module]->registry;
}

tvm_crt_error_t TVMHandles_FindFunction(uint32_t module, const char* name,
                                        TVMFunctionHandle* handle) {
  const TVMFuncRegistry* registry = RegistryOf(module);
  tvm_function_index_t index;
  tvm_crt_error_t error;
  if (registry == NULL) return kTvmErrorFunctionIndexInvalid;
  error = TVMFuncRegistry_Lookup(registry, name, &index);
  if (error != kTvmErrorNoError) return error;
  *handle = ToHandle(((module | HANDLE_BIT) << 16) | (uint32_t)index | HANDLE_BIT);
  return kTvmErrorNoError;
}

TVMModuleHandle TVMHandles_SystemLib(void) {
  return modules[0] == NULL ? NULL : ToHandle(HANDLE_BIT);
}

tvm_crt_error_t TVMInitializeRuntime(void) {
  TVMModuleHandle system_lib;
  memset(modules, 0, sizeof(modules));
  TVMHandles_globals = NULL;
  return TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib);
}

tvm_crt_error_t TVMModCreateFromCModule(const TVMModule* module, TVMModuleHandle* handle) {
  uint32_t i;
  for (i = 0; i < TVM_CRT_MAX_REGISTERED_MODULES; ++i) {
    if (modules[i] != NULL && modules[i] != module) continue;
    modules[i] = module;
    *handle = ToHandle(i | HANDLE_BIT);
    return kTvmErrorNoError;
  }
  return FAIL(kTvmErrorFunctionRegistryFull,
              "there are TVM_CRT_MAX_REGISTERED_MODULES modules already");
}

int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                      TVMFunctionHandle* out) {
  const uint32_t module = FromHandle(mod) & ~HANDLE_BIT;
  tvm_crt_error_t error = kTvmErrorFunctionIndexInvalid;
  (void)query_imports;
  if (module < TVM_CRT_GLOBAL_FUNCTIONS && (FromHandle(mod) & HANDLE_BIT) != 0) {
    error = TVMHandles_FindFunction(module, func_name, out);
  }
  if (error == kTvmErrorFunctionIndexInvalid) return (int)FAIL(error, "the handle is no module");
  if (error != kTvmErrorNoError) return (int)FAIL(error, "the module has no function of that name");
  return 0;
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                TVMValue* ret_val, int* ret_type_code) {
  const uint32_t bits = FromHandle(func);
  const uint32_t module = (bits >> 16) & ~HANDLE_BIT;
  const TVMFuncRegistry* registry = RegistryOf(module);
  TVMBackendPackedCFunc function;
  union {
    const TVMFuncRegistry* as_const;
    void* as_handle;
  } resource;
  if ((bits & FUNCTION_BITS) != FUNCTION_BITS || registry == NULL ||
      TVMFuncRegistry_GetByIndex(registry, (tvm_function_index_t)(bits & ~HANDLE_BIT & 0xffffu),
                                 &function) != kTvmErrorNoError) {
    return (int)FAIL(kTvmErrorFunctionIndexInvalid, "the handle is no function");
  }
  resource.as_handle = NULL;
  if (module != TVM_CRT_GLOBAL_FUNCTIONS) resource.as_const = registry;
  *ret_type_code = kTVMNullptr;
  return function(arg_values, type_codes, num_args, ret_val, ret_type_code, resource.as_handle);
}

// Handles own nothing.
int TVMModFree(TVMModuleHandle mod) {
  (void)mod;
  return 0;
}

int TVMFuncFree(TVMFunctionHandle func) {
  (void)func;
  return 0;
}
