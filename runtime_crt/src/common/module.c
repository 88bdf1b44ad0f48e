// SPDX-License-Identifier: Apache-2.0
//
// Modules and functions by handle. A module's handle is its index with the highest bit set; a
// function's is the module's in the upper and the function's index in the lower half. Global
// functions count as a module after the last one.
#include "tvm/runtime/crt/module.h"

#include <string.h>

#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/crt_config.h"

#define HANDLE_BIT 0x8000u
#define FUNCTION_BITS ((HANDLE_BIT << 16) | HANDLE_BIT)
#define GLOBAL_MODULE ((uint32_t)TVM_CRT_MAX_REGISTERED_MODULES)

typedef struct {
  const TVMModule* modules[TVM_CRT_MAX_REGISTERED_MODULES];
  TVMMutableFuncRegistry globals;
  union {
    TVMBackendPackedCFunc alignment;
    char bytes[TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES];
  } global_memory;
} Runtime;

static Runtime runtime;

static void* ToHandle(uint32_t bits) { return (void*)(uintptr_t)bits; }
static uint32_t FromHandle(const void* handle) { return (uint32_t)(uintptr_t)handle; }

static TVMFunctionHandle FunctionHandle(uint32_t module, tvm_function_index_t index) {
  return ToHandle(((module | HANDLE_BIT) << 16) | (uint32_t)index | HANDLE_BIT);
}

// The registry of a module's index, and NULL if there is no such module.
static const TVMFuncRegistry* RegistryOf(uint32_t module) {
  if (module == GLOBAL_MODULE) return &runtime.globals.registry;
  if (module > GLOBAL_MODULE || runtime.modules[module] == NULL) return NULL;
  return runtime.modules[module]->registry;
}

static int Fail(tvm_crt_error_t code, const char* text) {
  TVMAPISetLastError(text);
  return (int)code;
}

static int SystemLib(TVMValue* args, int* type_codes, int num_args, TVMValue* ret_value,
                     int* ret_type_code, void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)resource_handle;
  if (num_args != 0) return (int)kTvmErrorFunctionCallNumArguments;
  ret_value->v_handle = ToHandle(HANDLE_BIT);
  *ret_type_code = kTVMModuleHandle;
  return 0;
}

tvm_crt_error_t TVMInitializeRuntime(void) {
  TVMModuleHandle system_lib;
  tvm_crt_error_t error;
  memset(&runtime, 0, sizeof(runtime));
  error = TVMMutableFuncRegistry_Create(&runtime.globals, runtime.global_memory.bytes,
                                        sizeof(runtime.global_memory.bytes));
  if (error != kTvmErrorNoError) return error;
  error = TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib);
  if (error != kTvmErrorNoError) return error;
  return TVMMutableFuncRegistry_Set(&runtime.globals, "runtime.SystemLib", SystemLib, 0);
}

tvm_crt_error_t TVMModCreateFromCModule(const TVMModule* module, TVMModuleHandle* handle) {
  uint32_t i;
  for (i = 0; i < GLOBAL_MODULE; ++i) {
    if (runtime.modules[i] != NULL && runtime.modules[i] != module) continue;
    runtime.modules[i] = module;
    *handle = ToHandle(i | HANDLE_BIT);
    return kTvmErrorNoError;
  }
  return kTvmErrorFunctionRegistryFull;
}

int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                      TVMFunctionHandle* out) {
  const uint32_t module = FromHandle(mod) & ~HANDLE_BIT;
  const TVMFuncRegistry* registry = module < GLOBAL_MODULE ? RegistryOf(module) : NULL;
  tvm_function_index_t index;
  (void)query_imports;
  if (registry == NULL || (FromHandle(mod) & HANDLE_BIT) == 0) {
    return Fail(kTvmErrorFunctionIndexInvalid, "the handle is no module");
  }
  if (TVMFuncRegistry_Lookup(registry, func_name, &index) != kTvmErrorNoError) {
    return Fail(kTvmErrorFunctionNameNotFound, "the module has no function of that name");
  }
  *out = FunctionHandle(module, index);
  return 0;
}

int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out) {
  tvm_function_index_t index;
  if (runtime.globals.registry.names == NULL ||
      TVMFuncRegistry_Lookup(&runtime.globals.registry, name, &index) != kTvmErrorNoError) {
    return Fail(kTvmErrorFunctionNameNotFound, "there is no global function of that name");
  }
  *out = FunctionHandle(GLOBAL_MODULE, index);
  return 0;
}

int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override) {
  TVMBackendPackedCFunc func;
  tvm_crt_error_t error;
  if (runtime.globals.registry.names == NULL) {
    return Fail(kTvmErrorFunctionRegistryFull, "TVMInitializeRuntime has not been called");
  }
  // C knows no cast from an object's address to a function's.
  memcpy(&func, &f, sizeof(func));
  error = TVMMutableFuncRegistry_Set(&runtime.globals, name, func, override);
  if (error != kTvmErrorNoError) return Fail(error, "the global function cannot be registered");
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
  if ((bits & FUNCTION_BITS) != FUNCTION_BITS || registry == NULL || registry->names == NULL ||
      TVMFuncRegistry_GetByIndex(registry, (tvm_function_index_t)(bits & ~HANDLE_BIT & 0xffffu),
                                 &function) != kTvmErrorNoError) {
    return Fail(kTvmErrorFunctionIndexInvalid, "the handle is no function");
  }
  resource.as_handle = NULL;
  if (module != GLOBAL_MODULE) resource.as_const = registry;
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
