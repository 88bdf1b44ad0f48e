// SPDX-License-Identifier: Apache-2.0
//
// A model as the C runtime sees it: a registry of functions, in read-only memory.
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

// The models that are linked into the program. Made by the compiler.
const TVMModule* TVMSystemLibEntryPoint(void);

// Gives a module a handle, under which TVMModGetFunction finds its functions. A module that is
// there already keeps its handle. kTvmErrorFunctionRegistryFull beyond
// TVM_CRT_MAX_REGISTERED_MODULES.
tvm_crt_error_t TVMModCreateFromCModule(const TVMModule* module, TVMModuleHandle* handle);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_MODULE_H_
