// SPDX-License-Identifier: Apache-2.0
//
// Registries that find functions by name. The compiler generates one registry per model as constant
// data. Global functions are in a mutable registry, whose memory the caller provides.
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

// A registry. `names` begins with the number of functions, a uint16_t in the byte order of the
// machine. The NUL-terminated names follow, then one more NUL. `funcs` is in the same order.
typedef struct TVMFuncRegistry {
  const char* names;
  const TVMBackendPackedCFunc* funcs;
} TVMFuncRegistry;

tvm_function_index_t TVMFuncRegistry_GetNumFuncs(const TVMFuncRegistry* registry);

// Finds the index of a function. On kTvmErrorFunctionNameNotFound, `*index` is unchanged.
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry* registry, const char* name,
                                       tvm_function_index_t* index);

// Returns the function at `index`. On kTvmErrorFunctionIndexInvalid, `*func` is unchanged.
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry* registry,
                                           tvm_function_index_t index, TVMBackendPackedCFunc* func);

// A registry that can grow, up to `max_functions` functions and as long as their names fit. The
// caller's memory holds the functions, followed by the names.
typedef struct TVMMutableFuncRegistry {
  TVMFuncRegistry registry;
  size_t max_functions;
} TVMMutableFuncRegistry;

// Makes an empty registry in `buffer`, which must live as long as the registry and be aligned like
// memory from malloc. Returns kTvmErrorBufferTooSmall if not even one function fits.
tvm_crt_error_t TVMMutableFuncRegistry_Create(TVMMutableFuncRegistry* registry, void* buffer,
                                              size_t buffer_size_bytes);

// Adds a function. If the name is taken, replaces its function if `override` is not 0; otherwise
// returns kTvmErrorFunctionAlreadyDefined. Returns kTvmErrorFunctionRegistryFull if there is no
// room.
tvm_crt_error_t TVMMutableFuncRegistry_Set(TVMMutableFuncRegistry* registry, const char* name,
                                           TVMBackendPackedCFunc func, int override);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
