// SPDX-License-Identifier: Apache-2.0
//
// Handles, as module.c makes them and global_functions.c and backend_lookup.c need them. A module's
// is its number with the highest of 16 bits set; a function's is the module's in the upper and the
// function's number in the lower half. Global functions count as a module after the last one.
#ifndef KILN_RUNTIME_CRT_HANDLES_H_
#define KILN_RUNTIME_CRT_HANDLES_H_

#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/module.h"

#define TVM_CRT_GLOBAL_FUNCTIONS ((uint32_t)TVM_CRT_MAX_REGISTERED_MODULES)

// The global functions, and NULL until somebody asks for one or registers one: a program that does
// neither has no memory for them.
extern const TVMFuncRegistry* TVMHandles_globals;

// The handle of a module's function, or of a global one. kTvmErrorFunctionIndexInvalid for a module
// that is not there, kTvmErrorFunctionNameNotFound; neither sets a text.
tvm_crt_error_t TVMHandles_FindFunction(uint32_t module, const char* name,
                                        TVMFunctionHandle* handle);

// The handle of the first module, which TVMInitializeRuntime has registered; else NULL.
TVMModuleHandle TVMHandles_SystemLib(void);

#endif  // KILN_RUNTIME_CRT_HANDLES_H_
