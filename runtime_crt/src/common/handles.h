// SPDX-License-Identifier: Apache-2.0
//
// Handles of modules and functions. module.c makes them; global_functions.c and backend_lookup.c
// use them. The handle of a module is its number with bit 15 set. The handle of a function has the
// handle of its module in the upper 16 bits, and in the lower 16 bits the function's index with bit
// 15 set. For example, 0x80018000 is function 0 of module 1. Global functions count as the module
// after the last one.
#ifndef KILN_RUNTIME_CRT_HANDLES_H_
#define KILN_RUNTIME_CRT_HANDLES_H_

#include "tvm/runtime/crt/crt_config.h"
#include "tvm/runtime/crt/module.h"

#define TVM_CRT_GLOBAL_FUNCTIONS ((uint32_t)TVM_CRT_MAX_REGISTERED_MODULES)

// The global functions. NULL until the program first finds or registers one; a program that does
// neither has no memory for them.
extern const TVMFuncRegistry* TVMHandles_globals;

// Finds the handle of a function of a module, or of a global function. Returns
// kTvmErrorFunctionIndexInvalid if there is no such module, and kTvmErrorFunctionNameNotFound if it
// has no such function. Neither sets an error text.
tvm_crt_error_t TVMHandles_FindFunction(uint32_t module, const char* name,
                                        TVMFunctionHandle* handle);

// Returns the handle of the first module, or NULL before TVMInitializeRuntime has registered it.
TVMModuleHandle TVMHandles_SystemLib(void);

#endif  // KILN_RUNTIME_CRT_HANDLES_H_
