// SPDX-License-Identifier: Apache-2.0
//
// Start of the C runtime, for programs that look functions up by name.
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

// Forgets all modules and global functions, registers the system library as the first module, and
// the global function `runtime.SystemLib`, which returns it.
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_CRT_H_
