// SPDX-License-Identifier: Apache-2.0
//
// Tensors as plain C structs, in the memory layout of DLPack 0.5.
//
// Every tensor that crosses the C ABI is a DLTensor: a borrowed view of memory that another object
// owns. A DLManagedTensor is such a view together with a function that releases the memory.
//
//   float data[6] = {0};
//   int64_t shape[2] = {2, 3};
//   DLTensor tensor = {data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Values of DLDevice.device_type.
typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLExtDev = 12
} DLDeviceType;

// An integer as wide as DLDeviceType. The bare-metal ABI of Arm makes an enum only as wide as its
// values need. The rest of the first four bytes of DLDevice is then padding.
#if defined(__ARM_SIZEOF_MINIMAL_ENUM) && __ARM_SIZEOF_MINIMAL_ENUM == 1
typedef uint8_t DLDeviceTypeCode;
#else
typedef int32_t DLDeviceTypeCode;
#endif

// A device, such as the CPU or the second CUDA GPU ({kDLCUDA, 1}).
typedef struct {
  DLDeviceTypeCode device_type;  // A DLDeviceType, or one of the further codes of c_runtime_api.h.
  int32_t device_id;             // Index among the devices of this type, from 0.
} DLDevice;

// Values of DLDataType.code.
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5
} DLDataTypeCode;

// Type of one element. A boolean is {kDLUInt, 1, 1} and takes one byte in memory.
typedef struct {
  uint8_t code;    // A DLDataTypeCode.
  uint8_t bits;    // Number of bits of one lane.
  uint16_t lanes;  // Number of lanes; 1 for a scalar element.
} DLDataType;

// A borrowed view of a dense array. The address of element (i, j, …) is
//   (char*)data + byte_offset + element_bytes * (i * strides[0] + j * strides[1] + …).
typedef struct {
  void* data;            // Start of the allocation; not owned.
  DLDevice device;       // Device whose memory `data` points to.
  int32_t ndim;          // Number of dimensions; 0 is a scalar.
  DLDataType dtype;      // Type of each element.
  int64_t* shape;        // `ndim` extents, in elements; not owned.
  int64_t* strides;      // `ndim` steps, in elements; NULL is compact row-major. Not owned.
  uint64_t byte_offset;  // Offset of the first element from `data`, in bytes.
} DLTensor;

// A DLTensor with its owner. The receiver must call `deleter(self)` exactly once when it no longer
// needs the tensor. If `deleter` is NULL, there is nothing to release.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;  // Private to the producer.
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DLPACK_DLPACK_H_
