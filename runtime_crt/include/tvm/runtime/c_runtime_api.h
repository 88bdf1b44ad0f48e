// SPDX-License-Identifier: Apache-2.0
//
// The C ABI by which programs in any language use compiled models.
//
// Unless stated otherwise, every function returns 0 on success and a non-zero value on failure.
// TVMGetLastError returns the text of the failure. Handles are opaque. The C++ runtime implements
// all of these functions. The C runtime implements those listed in runtime_crt/README.md.
//
//   TVMModuleHandle factory;
//   if (TVMModLoadFromFile("my_mod.so", "so", &factory) != 0) puts(TVMGetLastError());
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#include "dlpack/dlpack.h"

#ifndef TVM_DLL
#if defined(__GNUC__)
#define TVM_DLL __attribute__((visibility("default")))
#else
#define TVM_DLL
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// One extent of a shape, in elements.
typedef int64_t tvm_index_t;

// Values of DLDevice.device_type in addition to those of dlpack.h.
typedef enum {
  kDLAOCL = 5,
  kDLSDAccel = 6,
  kOpenGL = 11,
  kDLMicroDev = 13,
  kDLHexagon = 14,
  kDLWebGPU = 15
} TVMDeviceExtType;

// Type codes of a TVMValue. Each comment names the member in use. Codes from kTVMExtBegin on are
// free for extensions.
typedef enum {
  kTVMArgInt = 0,               // v_int64.
  kTVMArgFloat = 2,             // v_float64.
  kTVMOpaqueHandle = 3,         // v_handle, defined by caller and callee.
  kTVMNullptr = 4,              // no value.
  kTVMDataType = 5,             // v_type.
  kDLDevice = 6,                // v_device.
  kTVMDLTensorHandle = 7,       // v_handle, a DLTensor*.
  kTVMObjectHandle = 8,         // v_handle.
  kTVMModuleHandle = 9,         // v_handle, a TVMModuleHandle.
  kTVMPackedFuncHandle = 10,    // v_handle, a TVMFunctionHandle.
  kTVMStr = 11,                 // v_str, NUL-terminated.
  kTVMBytes = 12,               // v_handle, a TVMByteArray*.
  kTVMNDArrayHandle = 13,       // v_handle, an owned array that starts with a DLTensor.
  kTVMObjectRValueRefArg = 14,  // v_handle.
  kTVMExtBegin = 15,
  kTVMNNVMFirst = 16,
  kTVMNNVMLast = 20,
  kTVMExtReserveEnd = 64,
  kTVMExtEnd = 128
} TVMArgTypeCode;

// One argument or result. A TVMArgTypeCode passed beside it selects the member.
typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
  DLDataType v_type;
  DLDevice v_device;
} TVMValue;

// A borrowed sequence of bytes.
typedef struct {
  const char* data;
  size_t size;  // In bytes.
} TVMByteArray;

typedef void* TVMModuleHandle;     // A module; released by TVMModFree.
typedef void* TVMFunctionHandle;   // A function; released by TVMFuncFree.
typedef void* TVMRetValueHandle;   // Place for the result of a callback.
typedef void* TVMStreamHandle;     // Queue of work of a device; NULL is the default queue.
typedef void* TVMObjectHandle;     // Any other object.
typedef DLTensor* TVMArrayHandle;  // An array; released by TVMArrayFree.

// A callback of the program for TVMFuncCreateFromCFunc. It sets its result with TVMCFuncSetReturn.
typedef int (*TVMPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMRetValueHandle ret,
                              void* resource_handle);

// Releases `resource_handle` when the function that owns it is destroyed.
typedef void (*TVMPackedCFuncFinalizer)(void* resource_handle);

// --- Errors ---

// Stores a copy of `msg` as the last error of the calling thread.
TVM_DLL void TVMAPISetLastError(const char* msg);

// Returns the last error of the calling thread, "" if there was none. The text is valid until the
// next error on this thread.
TVM_DLL const char* TVMGetLastError(void);

// --- Modules ---

// Loads a compiled model. `format` must be "so"; "" and NULL stand for it.
TVM_DLL int TVMModLoadFromFile(const char* file_name, const char* format, TVMModuleHandle* out);

// Lets `mod` find functions in `dep`.
TVM_DLL int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep);

// Looks up a function. If `query_imports` is not 0, imported modules are searched too. If the
// function is missing, the C++ runtime returns 0 and sets `*out` to NULL; the C runtime returns
// error 0x100.
TVM_DLL int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                              TVMFunctionHandle* out);

TVM_DLL int TVMModFree(TVMModuleHandle mod);

// --- Functions ---

// Calls a function. `*ret_val` receives the result and `*ret_type_code` its type. The runtime keeps
// ownership of a string or bytes result, which is valid until the next call on this thread. The
// caller must release a handle.
TVM_DLL int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                        TVMValue* ret_val, int* ret_type_code);

TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

// Makes a function from a C function. If `fin` is not NULL, it is called once with
// `resource_handle` when the function is destroyed.
TVM_DLL int TVMFuncCreateFromCFunc(TVMPackedCFunc func, void* resource_handle,
                                   TVMPackedCFuncFinalizer fin, TVMFunctionHandle* out);

// Sets the result of a TVMPackedCFunc; for use inside of one. `num_ret` must be 1.
TVM_DLL int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret);

// Turns a borrowed argument of a TVMPackedCFunc into a value that the callback may keep; for use
// inside of one.
TVM_DLL int TVMCbArgToReturn(TVMValue* value, int* code);

// Registers `f` as the global function `name`. If `name` is taken, it is replaced if `override` is
// not 0; otherwise this is an error.
TVM_DLL int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override);

// Finds a global function. If it is missing, the C++ runtime returns 0 and sets `*out` to NULL; the
// C runtime returns error 0x100.
TVM_DLL int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out);

// Lists the names of all global functions in order. The array is valid until the next call of this
// function on the same thread.
TVM_DLL int TVMFuncListGlobalNames(int* out_size, const char*** out_array);

TVM_DLL int TVMFuncRemoveGlobal(const char* name);

// --- Arrays ---

// Allocates a compact array through the device API of its device. `shape` has `ndim` extents, in
// elements.
TVM_DLL int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                          int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out);

TVM_DLL int TVMArrayFree(TVMArrayHandle handle);

// Copy between an array and memory of the program. `nbytes` must be the size of the whole array.
TVM_DLL int TVMArrayCopyFromBytes(TVMArrayHandle handle, void* data, size_t nbytes);
TVM_DLL int TVMArrayCopyToBytes(TVMArrayHandle handle, void* data, size_t nbytes);

// Copies an array into another one of the same shape and type.
TVM_DLL int TVMArrayCopyFromTo(TVMArrayHandle from, TVMArrayHandle to, TVMStreamHandle stream);

// Makes an array from a managed tensor and takes ownership of the tensor.
TVM_DLL int TVMArrayFromDLPack(DLManagedTensor* from, TVMArrayHandle* out);

// Makes a managed tensor that shares the memory of the array.
TVM_DLL int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor** out);

TVM_DLL void TVMDLManagedTensorCallDeleter(DLManagedTensor* dltensor);

// --- Devices ---

// Allocates `nbytes` bytes. `alignment`, in bytes, must be a power of two.
TVM_DLL int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment,
                                    DLDataType type_hint, void** out_data);

TVM_DLL int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr);

// Copies a tensor into another one of the same size in bytes.
TVM_DLL int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle stream);

// Waits until all work in a stream is done.
TVM_DLL int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_C_RUNTIME_API_H_
