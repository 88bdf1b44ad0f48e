// SPDX-License-Identifier: Apache-2.0
//
// Functions that belong to no module, and the memory for their names and addresses. A program that
// does not use global functions does not link this file.
#include <string.h>

#include "fail.h"
#include "handles.h"

static TVMMutableFuncRegistry globals;
static union {
  TVMBackendPackedCFunc alignment;
  char bytes[TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES];
} memory;

static int SystemLib(TVMValue* args, int* type_codes, int num_args, TVMValue* ret_value,
                     int* ret_type_code, void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)resource_handle;
  if (num_args != 0) return (int)kTvmErrorFunctionCallNumArguments;
  ret_value->v_handle = TVMHandles_SystemLib();
  *ret_type_code = kTVMModuleHandle;
  return 0;
}

// Makes the registry if it does not exist since the last call of TVMInitializeRuntime.
static tvm_crt_error_t Prepare(void) {
  tvm_crt_error_t error;
  if (TVMHandles_globals != NULL) return kTvmErrorNoError;
  if (TVMHandles_SystemLib() == NULL) {
    return FAIL(kTvmErrorFunctionRegistryFull, "TVMInitializeRuntime has not been called");
  }
  error = TVMMutableFuncRegistry_Create(&globals, memory.bytes, sizeof(memory.bytes));
  if (error == kTvmErrorNoError) {
    error = TVMMutableFuncRegistry_Set(&globals, "runtime.SystemLib", SystemLib, 0);
  }
  if (error != kTvmErrorNoError) {
    return FAIL(error, "there is no room for global functions");
  }
  TVMHandles_globals = &globals.registry;
  return kTvmErrorNoError;
}

int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out) {
  if (Prepare() != kTvmErrorNoError ||
      TVMHandles_FindFunction(TVM_CRT_GLOBAL_FUNCTIONS, name, out) != kTvmErrorNoError) {
    return (int)FAIL(kTvmErrorFunctionNameNotFound, "there is no global function of that name");
  }
  return 0;
}

int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override) {
  TVMBackendPackedCFunc func;
  tvm_crt_error_t error = Prepare();
  if (error != kTvmErrorNoError) return (int)error;
  // C has no cast from an object pointer to a function pointer.
  memcpy(&func, &f, sizeof(func));
  error = TVMMutableFuncRegistry_Set(&globals, name, func, override);
  if (error != kTvmErrorNoError)
    return (int)FAIL(error, "the global function cannot be registered");
  return 0;
}

int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr) {
  return TVMFuncRegisterGlobal(name, ptr, 0);
}
