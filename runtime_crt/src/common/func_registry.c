// SPDX-License-Identifier: Apache-2.0
#include "tvm/runtime/crt/func_registry.h"

#include <string.h>

// A name takes about this much.
#define AVERAGE_NAME_BYTES 11u

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
  const size_t fixed = sizeof(tvm_function_index_t) + 1;
  const size_t entry = AVERAGE_NAME_BYTES + sizeof(TVMBackendPackedCFunc);
  char* names;
  memset(registry, 0, sizeof(*registry));
  if (buffer_size_bytes < fixed + entry) return kTvmErrorBufferTooSmall;
  registry->max_functions = (buffer_size_bytes - fixed) / entry;
  // Functions first: the buffer is aligned for them.
  registry->mutable_funcs = (TVMBackendPackedCFunc*)buffer;
  names = (char*)buffer + registry->max_functions * sizeof(TVMBackendPackedCFunc);
  registry->registry.funcs = registry->mutable_funcs;
  registry->registry.names = names;
  registry->end_of_names = names + sizeof(tvm_function_index_t);
  registry->limit_of_names = (char*)buffer + buffer_size_bytes;
  SetCount(names, 0);
  *registry->end_of_names = '\0';
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* registry, const char* name,
                                           TVMBackendPackedCFunc func, int override) {
  const tvm_function_index_t count = TVMFuncRegistry_GetNumFuncs(&registry->registry);
  const size_t size = strlen(name) + 1;
  tvm_function_index_t index;
  if (TVMFuncRegistry_Lookup(&registry->registry, name, &index) == kTvmErrorNoError) {
    if (!override) return kTvmErrorFunctionAlreadyDefined;
    registry->mutable_funcs[index] = func;
    return kTvmErrorNoError;
  }
  // The last NUL moves behind the new name.
  if (count >= registry->max_functions ||
      (size_t)(registry->limit_of_names - registry->end_of_names) < size + 1) {
    return kTvmErrorFunctionRegistryFull;
  }
  memcpy(registry->end_of_names, name, size);
  registry->end_of_names += size;
  *registry->end_of_names = '\0';
  registry->mutable_funcs[count] = func;
  SetCount((char*)(registry->mutable_funcs + registry->max_functions),
           (tvm_function_index_t)(count + 1));
  return kTvmErrorNoError;
}
