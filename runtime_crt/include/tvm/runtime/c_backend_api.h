// SPDX-License-Identifier: Apache-2.0
//
// What generated code may call in a runtime, and the form of the functions that it offers.
//
// The C++ runtime (runtime_cpp) and the C runtime (runtime_crt) both implement these functions. The
// code of a model never needs another symbol of a runtime.
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <stddef.h>
#include <stdint.h>

#include "tvm/runtime/c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// A packed function, as exported by the code of a model.
//
// `args[i]` is read by `type_codes[i]`. The caller sets `*out_ret_tcode` to kTVMNullptr; a function
// that returns nothing leaves both `out_ret_*` as they are. Returns 0, or another value after
// having left a text with TVMAPISetLastError. The arguments stay the caller's. `resource_handle` is
// context of the caller's choice; the C++ runtime passes NULL.
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args,
                                     TVMValue* out_ret_value, int* out_ret_tcode,
                                     void* resource_handle);

// Finds `func_name` in the imports of the module `mod_node`, then among the global functions.
// `mod_node` is the value of the variable __tvm_module_ctx of the calling library. The function in
// `*out` stays the module's and must not be freed. Returns 0, or -1 if there is no such function.
TVM_DLL int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out);

// Takes `nbytes` bytes of scratch memory, aligned to 128 bytes in the C++ runtime. Blocks are given
// back by TVMBackendFreeWorkspace on the same thread, best in reverse order. The hints describe the
// elements and may be ignored. Returns NULL on failure.
TVM_DLL void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);

// Gives a block of TVMBackendAllocWorkspace back. Returns 0 on success.
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr);

// What the tasks of one parallel launch share.
typedef struct {
  void* sync_handle;  // Belongs to the runtime.
  int32_t num_task;   // How many tasks run; may be fewer than were asked for.
} TVMParallelGroupEnv;

// One task of a parallel launch. `task_id` counts from 0 to penv->num_task - 1, and the tasks
// divide the work by penv->num_task. Returns 0 on success.
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv* penv, void* cdata);

// Runs `flambda` for every task and returns when all have ended. `num_task` is the most tasks there
// shall be, 0 as many as the runtime likes, more than it has threads too. A launch from inside a
// task, or in a runtime without threads, is one task on the caller. Returns 0 if all tasks did,
// else -1.
TVM_DLL int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task);

// Waits until every task of the launch has come here. Returns 0.
TVM_DLL int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv);

// Calls `f(cdata)` the first time it is called for `handle`, and makes `*handle` non-NULL. `nbytes`
// is the size of what `cdata` points to. Safe from many threads in the C++ runtime. Returns what
// `f` returned; 0 if it was called before.
TVM_DLL int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes);

// Makes `ptr` the value of the pointer variable `__<name>` of libraries that are loaded from here
// on, as the runtime does for its own functions. C++ runtime only. Returns 0.
TVM_DLL int TVMBackendRegisterEnvCAPI(const char* name, void* ptr);

// Adds a symbol to the system library. Called by initializers of statically linked models; `name`
// and what `ptr` points to must live as long as the program. Returns 0 on success.
TVM_DLL int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_C_BACKEND_API_H_
