// SPDX-License-Identifier: Apache-2.0
//
// A reference-counted array: a DLTensor and its memory.
//
// Copies of an NDArray share the memory. The memory comes from the device API of the array's
// device, from a managed tensor of another library, or is borrowed from the caller. Use a plain
// DLTensor if ownership does not matter.
//
//   absl::StatusOr<NDArray> array = NDArray::Empty({2, 3}, DLDataType{kDLFloat, 32, 1});
//   array->values<float>()[0] = 1.0f;
//   if (array->holds<int8_t>()) …
#ifndef KILN_RUNTIME_CPP_NDARRAY_H_
#define KILN_RUNTIME_CPP_NDARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dlpack/dlpack.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/data_type.h"

namespace kiln::runtime {

class NDArray {
 public:
  // Makes an undefined array, whose tensor() is null.
  NDArray() = default;
  NDArray(const NDArray& other);
  NDArray(NDArray&& other) noexcept : container_(other.container_) { other.container_ = nullptr; }
  NDArray& operator=(NDArray other) noexcept;
  ~NDArray();

  // Allocates an uninitialized compact array, aligned to kAllocationAlignment.
  static absl::StatusOr<NDArray> Empty(absl::Span<const int64_t> shape, DLDataType dtype,
                                       DLDevice device = kCpu);

  // Makes a view of memory of the caller, which must outlive the array and all its copies. `tensor`
  // must have a shape (CheckHasShape).
  static NDArray Borrow(const DLTensor& tensor);

  // Takes ownership of a managed tensor. Its deleter runs when the last copy is gone.
  static absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* managed);

  // Shares the memory as a managed tensor, which the receiver must release.
  DLManagedTensor* ToDLPack() const;

  bool defined() const { return container_ != nullptr; }

  // The tensor, owned by the array; null if the array is undefined.
  DLTensor* tensor() const;
  const DLTensor& operator*() const { return *tensor(); }
  const DLTensor* operator->() const { return tensor(); }

  absl::Span<const int64_t> shape() const { return ShapeOf(*tensor()); }
  DLDataType dtype() const { return tensor()->dtype; }
  DLDevice device() const { return tensor()->device; }
  void* data() const { return DataOf(*tensor()); }
  int64_t size_bytes() const;

  // True if T is the C++ type of the elements: float for float32, int8_t for int8, bool or uint8_t
  // for boolean, which takes a byte, and uint16_t for float16 and bfloat16, which have no type in
  // C++17.
  template <typename T>
  bool holds() const {
    return defined() && IsElementType(dtype(), DataTypeOf<T>());
  }

  // Returns the elements of a compact CPU array for which holds<T>(). For another array it ends the
  // program with a message, because the bytes of another type are meaningless as T. T may be char
  // or std::byte for the bytes of any compact array.
  template <typename T>
  absl::Span<T> values() const {
    if constexpr (kIsByte<T>) {
      CheckValues({kDLOpaqueHandle, 8, 1});
    } else {
      CheckValues(DataTypeOf<T>());
    }
    return {static_cast<T*>(data()), static_cast<size_t>(size_bytes()) / sizeof(T)};
  }

  // Copy all elements. Shape and data type must be equal. The devices may differ.
  absl::Status CopyFrom(const DLTensor& source) const;
  absl::Status CopyTo(const DLTensor& target) const;

  // Copy from and to CPU memory of exactly size_bytes() bytes.
  absl::Status CopyFromBytes(absl::string_view bytes) const;
  absl::Status CopyToBytes(absl::Span<char> bytes) const;

  // Sets every element to `value`. Returns InvalidArgument if an integer type does not have the
  // value. A type that C++ does not have accepts only 0; for other values it returns Unimplemented.
  absl::Status Fill(double value) const;

  // The byte form of an array: magic, device, shape, type, data. An array is always saved as a CPU
  // array, and Load makes a CPU array.
  absl::Status Save(ByteWriter& writer) const;
  static absl::StatusOr<NDArray> Load(ByteReader& reader);

  // For the C ABI: returns a handle with its own reference, which FromHandle takes back.
  DLTensor* ToHandle() const;
  // Takes ownership of the reference of a handle made by ToHandle.
  static NDArray FromHandle(DLTensor* handle);
  // Makes another reference to the array of a handle.
  static NDArray ShareHandle(DLTensor* handle);

 private:
  template <typename T>
  static constexpr bool kIsByte = std::is_same_v<std::remove_const_t<T>, char> ||
                                  std::is_same_v<std::remove_const_t<T>, std::byte>;

  static bool IsElementType(DLDataType found, DLDataType wanted);
  // The type code of an opaque handle stands for the bytes of any type.
  void CheckValues(DLDataType wanted) const;

  struct Container;
  explicit NDArray(Container* container) : container_(container) {}

  Container* container_ = nullptr;
};

// Returns InvalidArgument if the number of dimensions is negative, or is positive without a shape.
absl::Status CheckHasShape(const DLTensor& tensor);

// Copies all elements of `from` to `to`. Returns InvalidArgument if shapes or types differ, or one
// of them is not compact.
absl::Status CopyTensor(const DLTensor& from, const DLTensor& to);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_NDARRAY_H_
