// SPDX-License-Identifier: Apache-2.0
//
// Names and sizes of the plain types that describe tensors: data type, device, shape.
//
// Use these functions for all error messages and sizes, so that messages are uniform and size
// computations cannot overflow.
//
//   absl::StatusOr<int64_t> bytes = TensorBytes({1, 3, 224, 224}, DLDataType{kDLFloat, 32, 1});
//   DataTypeName(DLDataType{kDLInt, 8, 1}) == "int8"
#ifndef KILN_RUNTIME_CPP_DATA_TYPE_H_
#define KILN_RUNTIME_CPP_DATA_TYPE_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dlpack/dlpack.h"

namespace kiln::runtime {

// Maximum number of dimensions of a tensor.
inline constexpr int32_t kMaxNdim = 32;

// Maximum size of a tensor or workspace in bytes. A larger size indicates damage.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

// The default device.
inline constexpr DLDevice kCpu = {kDLCPU, 0};

// Returns the data type of a C++ type: float32 for DataTypeOf<float>(), boolean for
// DataTypeOf<bool>().
template <typename T>
constexpr DLDataType DataTypeOf() {
  static_assert(std::is_arithmetic_v<T>, "no data type has values of this C++ type");
  if (std::is_same_v<std::remove_const_t<T>, bool>) return {kDLUInt, 1, 1};
  return {std::is_floating_point_v<T> ? kDLFloat
          : std::is_signed_v<T>       ? kDLInt
                                      : kDLUInt,
          static_cast<uint8_t>(8 * sizeof(T)), 1};
}

// Returns "float32", "uint8x4", "bool"…
std::string DataTypeName(DLDataType dtype);

// Inverse of DataTypeName. Returns InvalidArgument if `name` is not a data type.
absl::StatusOr<DLDataType> ParseDataType(absl::string_view name);

// Returns "cpu:0", "cuda:1". A device type without a name is "device_type(99):0".
std::string DeviceName(DLDevice device);

// Returns "(1, 3, 224, 224)".
std::string ShapeName(absl::Span<const int64_t> shape);

// Returns "float32 (1, 3) on cpu:0".
std::string TensorName(const DLTensor& tensor);

// Returns the size of one element in bytes. A boolean takes one byte.
int64_t ElementBytes(DLDataType dtype);

// Returns the size of a compact tensor in bytes. InvalidArgument if an extent is negative, there
// are more than kMaxNdim extents, or the size exceeds kMaxTensorBytes.
absl::StatusOr<int64_t> TensorBytes(absl::Span<const int64_t> shape, DLDataType dtype);

// Makes a compact tensor of memory that has been allocated elsewhere. It borrows the extents, which
// must not be written through it.
DLTensor CompactTensor(void* data, DLDevice device, DLDataType dtype,
                       absl::Span<const int64_t> shape);

// True if the elements of `tensor` are in row-major order without gaps. `strides` may be null.
bool IsCompact(const DLTensor& tensor);

// Returns the address of the first element.
inline void* DataOf(const DLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

// Returns the extents of `tensor` as a view.
inline absl::Span<const int64_t> ShapeOf(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

bool SameDataType(DLDataType a, DLDataType b);
bool SameDevice(DLDevice a, DLDevice b);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DATA_TYPE_H_
