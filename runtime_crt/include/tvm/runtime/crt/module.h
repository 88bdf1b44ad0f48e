// SPDX-License-Identifier: Apache-2.0
//
// A module of the C runtime: a registry of functions in read-only memory.
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/func_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMModule {
  const TVMFuncRegistry* registry;
} TVMModule;

// Returns the models that are linked into the program. The compiler generates this function.
const TVMModule* TVMSystemLibEntryPoint(void);

// Registers a module. TVMModGetFunction finds its functions by `*handle`. A module that is already
// registered keeps its handle. Returns kTvmErrorFunctionRegistryFull if
// TVM_CRT_MAX_REGISTERED_MODULES other modules are registered.
tvm_crt_error_t TVMModCreateFromCModule(const TVMModule* module, TVMModuleHandle* handle);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_MODULE_H_
