// SPDX-License-Identifier: Apache-2.0
//
// Runtime functions that generated code may call, and the types of the functions that it exports.
//
// The C++ runtime (runtime_cpp) and the C runtime (runtime_crt) both implement these functions. The
// code of a model needs no other symbol of a runtime.
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
// `type_codes[i]` (a TVMArgTypeCode) selects the member of `args[i]`. The caller keeps ownership of
// the arguments. The caller sets `*out_ret_tcode` to kTVMNullptr before the call. A function
// without a result leaves `*out_ret_value` and `*out_ret_tcode` unchanged. Returns 0 on success. On
// failure, it stores a text with TVMAPISetLastError and returns another value. `resource_handle` is
// a context that the caller chooses; the C++ runtime passes NULL.
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args,
                                     TVMValue* out_ret_value, int* out_ret_tcode,
                                     void* resource_handle);

// Finds `func_name` in the imports of the module `mod_node`, then among the global functions.
// `mod_node` is the value of the variable __tvm_module_ctx of the calling library. The module keeps
// ownership of the function in `*out`, which must not be freed. Returns 0, or -1 if there is no
// such function.
TVM_DLL int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out);

// Allocates `nbytes` bytes of scratch memory, aligned to 128 bytes in the C++ runtime. A block must
// be freed with TVMBackendFreeWorkspace on the same thread, preferably in reverse order of
// allocation. The hints describe the elements and may be ignored. Returns NULL on failure.
TVM_DLL void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);

// Frees a block of TVMBackendAllocWorkspace. Returns 0 on success.
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr);

// State shared by the tasks of one parallel launch.
typedef struct {
  void* sync_handle;  // Private to the runtime.
  int32_t num_task;   // Number of tasks that run; may be lower than requested.
} TVMParallelGroupEnv;

// One task of a parallel launch. `task_id` counts from 0 to penv->num_task - 1. The tasks divide
// the work among penv->num_task tasks. Returns 0 on success.
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv* penv, void* cdata);

// Runs `flambda` for every task and returns when all tasks have ended. `num_task` is the maximum
// number of tasks. With 0, the runtime chooses the number, which may exceed its number of threads.
// A launch from inside a task, or in a runtime without threads, runs one task on the calling
// thread. Returns 0 if all tasks returned 0, else -1.
TVM_DLL int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task);

// Waits until every task of the launch has reached the barrier. Returns 0, or -1 if the runtime
// cannot run all tasks at once: a task has no thread (C++ runtime) or num_task is above 1 (C
// runtime).
TVM_DLL int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv);

// Calls `f(cdata)` if `*handle` is NULL, and makes `*handle` non-NULL if `f` returned 0. `nbytes`
// is the size of the data at `cdata`. Thread-safe in the C++ runtime. Returns the result of `f`, or
// 0 without a call if `*handle` was not NULL.
TVM_DLL int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes);

// Makes `ptr` the value of the pointer variable `__<name>` in libraries that are loaded after this
// call. The runtime sets the pointers to its own functions in the same way. C++ runtime only.
// Returns 0.
TVM_DLL int TVMBackendRegisterEnvCAPI(const char* name, void* ptr);

// Adds a symbol to the system library. Initializers of statically linked models call it. `name` and
// the object at `ptr` must live as long as the program. Returns 0 on success.
TVM_DLL int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_C_BACKEND_API_H_
