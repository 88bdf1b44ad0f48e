// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/func_registry.h"

#include <string.h>

// Number of bytes reserved per name.
#define AVERAGE_NAME_BYTES 11u
// Bytes in `names` besides the names: the number of functions, and the NUL after the last name.
#define FIXED_NAMES_BYTES (sizeof(tvm_function_index_t) + 1u)

static void SetCount(char* names, tvm_function_index_t count) {
  memcpy(names, &count, sizeof(count));
}

tvm_function_index_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry* registry) {
  tvm_function_index_t count;
  memcpy(&count, registry->names, sizeof(count));
  return count;
}

tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry* registry, const char* name,
                                       tvm_function_index_t* index) {
  const tvm_function_index_t count = TVMFuncRegistry_GetNumFuncs(registry);
  const char* entry = registry->names + sizeof(tvm_function_index_t);
  tvm_function_index_t i;
  for (i = 0; i < count; ++i) {
    if (strcmp(entry, name) == 0) {
      *index = i;
      return kTvmErrorNoError;
    }
    entry += strlen(entry) + 1;
  }
  return kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry* registry,
                                           tvm_function_index_t index,
                                           TVMBackendPackedCFunc* func) {
  if (index >= TVMFuncRegistry_GetNumFuncs(registry)) return kTvmErrorFunctionIndexInvalid;
  *func = registry->funcs[index];
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry* registry, void* buffer,
                                              size_t buffer_size_bytes) {
  const size_t entry = AVERAGE_NAME_BYTES + sizeof(TVMBackendPackedCFunc);
  char* names;
  memset(registry, 0, sizeof(*registry));
  if (buffer_size_bytes < FIXED_NAMES_BYTES + entry) return kTvmErrorBufferTooSmall;
  registry->max_functions = (buffer_size_bytes - FIXED_NAMES_BYTES) / entry;
  // The functions come first because the buffer is aligned for them.
  names = (char*)buffer + registry->max_functions * sizeof(TVMBackendPackedCFunc);
  registry->registry.funcs = (const TVMBackendPackedCFunc*)buffer;
  registry->registry.names = names;
  SetCount(names, 0);
  names[sizeof(tvm_function_index_t)] = '\0';
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* registry, const char* name,
                                           TVMBackendPackedCFunc func, int override) {
  const tvm_function_index_t count = TVMFuncRegistry_GetNumFuncs(&registry->registry);
  // The registry's pointer is const, but the caller's memory is not.
  TVMBackendPackedCFunc* const funcs = (TVMBackendPackedCFunc*)(uintptr_t)registry->registry.funcs;
  char* const names = (char*)(funcs + registry->max_functions);
  const size_t names_bytes = FIXED_NAMES_BYTES + registry->max_functions * AVERAGE_NAME_BYTES;
  const size_t size = strlen(name) + 1;
  size_t used = sizeof(tvm_function_index_t);
  tvm_function_index_t i;
  if (TVMFuncRegistry_Lookup(&registry->registry, name, &i) == kTvmErrorNoError) {
    if (!override) return kTvmErrorFunctionAlreadyDefined;
    funcs[i] = func;
    return kTvmErrorNoError;
  }
  for (i = 0; i < count; ++i) used += strlen(names + used) + 1;
  // The final NUL moves to the end of the new name.
  if (count >= registry->max_functions || names_bytes - used < size + 1) {
    return kTvmErrorFunctionRegistryFull;
  }
  memcpy(names + used, name, size);
  names[used + size] = '\0';
  funcs[count] = func;
  SetCount(names, (tvm_function_index_t)(count + 1));
  return kTvmErrorNoError;
}
