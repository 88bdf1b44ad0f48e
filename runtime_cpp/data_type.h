// SPDX-License-Identifier: Apache-2.0
//
// Names and sizes of the plain types that tensors are described by: data type, device, shape.
//
// Use these wherever an error message or a size is made, so that all messages read alike and no
// size computation can overflow.
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

// Most dimensions a tensor may have.
inline constexpr int32_t kMaxNdim = 32;

// Most bytes of a tensor or workspace; what claims to be larger is damaged.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

// The device that everything runs on unless said otherwise.
inline constexpr DLDevice kCpu = {kDLCPU, 0};

// The data type of arrays of a C++ type: DataTypeOf<float>() is float32, DataTypeOf<bool>()
// boolean.
template <typename T>
constexpr DLDataType DataTypeOf() {
  static_assert(std::is_arithmetic_v<T>, "no data type has values of this C++ type");
  if (std::is_same_v<std::remove_const_t<T>, bool>) return {kDLUInt, 1, 1};
  return {std::is_floating_point_v<T> ? kDLFloat
          : std::is_signed_v<T>       ? kDLInt
                                      : kDLUInt,
          static_cast<uint8_t>(8 * sizeof(T)), 1};
}

// "float32", "uint8x4", "bool"…
std::string DataTypeName(DLDataType dtype);

// The reverse of DataTypeName. InvalidArgument if `name` is not a data type.
absl::StatusOr<DLDataType> ParseDataType(absl::string_view name);

// "cpu:0", "cuda:1"; a type without a name is "device_type(99):0".
std::string DeviceName(DLDevice device);

// "(1, 3, 224, 224)".
std::string ShapeName(absl::Span<const int64_t> shape);

// "float32 (1, 3) on cpu:0".
std::string TensorName(const DLTensor& tensor);

// Bytes that one element takes in memory; a boolean takes one.
int64_t ElementBytes(DLDataType dtype);

// Bytes of a compact tensor. InvalidArgument if an extent is negative, there are more than
// kMaxNdim, or the size does not fit in 63 bits.
absl::StatusOr<int64_t> TensorBytes(absl::Span<const int64_t> shape, DLDataType dtype);

// A compact tensor of data that has been allocated elsewhere. It borrows the extents, which nothing
// writes to.
DLTensor CompactTensor(void* data, DLDevice device, DLDataType dtype,
                       absl::Span<const int64_t> shape);

// Whether the elements of `tensor` lie in row-major order without gaps. `strides` may be NULL.
bool IsCompact(const DLTensor& tensor);

// Address of the first element.
inline void* DataOf(const DLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

// The extents of `tensor` as a view.
inline absl::Span<const int64_t> ShapeOf(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

bool SameDataType(DLDataType a, DLDataType b);
bool SameDevice(DLDevice a, DLDevice b);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DATA_TYPE_H_
