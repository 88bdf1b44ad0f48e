// SPDX-License-Identifier: Apache-2.0
//
// Initialization of the C runtime, for programs that look up functions by name.
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

// Resets the runtime: removes all modules and global functions, and registers the system library as
// the first module. The global function `runtime.SystemLib` returns that module.
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_CRT_H_
