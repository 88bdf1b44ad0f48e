// SPDX-License-Identifier: Apache-2.0
//
// Common declarations of the stand-ins for libraries of TVM 0.9, in that release's layout and
// without headers of Kiln. Like the code of its C code generator, they call the runtime's functions
// by name.
#ifndef KILN_TESTS_TVM_COMPAT_TVM_LIBRARY_H_
#define KILN_TESTS_TVM_COMPAT_TVM_LIBRARY_H_

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
} Value;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DataType;

typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} Tensor;

typedef int32_t PackedFunction(Value*, int*, int, Value*, int*, void*);

enum { kCpu = 1, kOpaqueHandle = 3, kTensorHandle = 7 };

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t bytes, int code, int bits);
int TVMBackendFreeWorkspace(int device_type, int device_id, void* memory);
void TVMAPISetLastError(const char* text);

EXPORT void* __tvm_module_ctx = 0;

static const Tensor* TensorOf(Value value) { return (const Tensor*)value.v_handle; }

#endif  // KILN_TESTS_TVM_COMPAT_TVM_LIBRARY_H_
