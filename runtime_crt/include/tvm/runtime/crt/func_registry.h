// SPDX-License-Identifier: Apache-2.0
//
// Functions by name. The compiler makes one registry per model as constant data; the mutable kind
// holds global functions in memory of the caller's.
//
//   tvm_function_index_t index;
//   if (TVMFuncRegistry_Lookup(registry, "tvmgen_default_fused_add", &index) == 0) …
#ifndef TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_FUNC_REGISTRY_H_

#include <stddef.h>
#include <stdint.h>

#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint16_t tvm_function_index_t;

// `names` is the number of functions as uint16_t in the byte order of the machine, each name with
// its NUL, and one more NUL. `funcs` is in the same order.
typedef struct TVMFuncRegistry {
  const char* names;
  const TVMBackendPackedCFunc* funcs;
} TVMFuncRegistry;

tvm_function_index_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry* registry);

// kTvmErrorFunctionNameNotFound leaves `*index` as it is.
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry* registry, const char* name,
                                       tvm_function_index_t* index);

// kTvmErrorFunctionIndexInvalid leaves `*func` as it is.
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry* registry,
                                           tvm_function_index_t index, TVMBackendPackedCFunc* func);

// A registry that grows, up to `max_functions` and as long as names fit. Functions and, behind
// them, names lie in the caller's memory.
typedef struct TVMMutableFuncRegistry {
  TVMFuncRegistry registry;
  size_t max_functions;
} TVMMutableFuncRegistry;

// Takes memory of at least one entry, which must live as long as the registry; aligned as malloc
// does. kTvmErrorBufferTooSmall.
tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry* registry, void* buffer,
                                              size_t buffer_size_bytes);

// Adds a function, or with `override` replaces it. kTvmErrorFunctionAlreadyDefined,
// kTvmErrorFunctionRegistryFull.
tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* registry, const char* name,
                                           TVMBackendPackedCFunc func, int override);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
