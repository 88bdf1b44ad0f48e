// SPDX-License-Identifier: Apache-2.0
//
// A reference-counted array: a DLTensor and the memory behind it.
//
// Copying an NDArray shares the memory. Memory comes from the Device API of the array's device,
// from a managed tensor of another library, or is the caller's and only looked at. Use a plain
// DLTensor where nobody has to own anything.
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
  // No array; tensor() is NULL.
  NDArray() = default;
  NDArray(const NDArray& other);
  NDArray(NDArray&& other) noexcept : container_(other.container_) { other.container_ = nullptr; }
  NDArray& operator=(NDArray other) noexcept;
  ~NDArray();

  // Allocates a compact array, not initialized, aligned to kAllocationAlignment.
  static absl::StatusOr<NDArray> Empty(absl::Span<const int64_t> shape, DLDataType dtype,
                                       DLDevice device = kCpu);

  // A view on memory of the caller's, which has to outlive the array and all its copies. `tensor`
  // has a shape (CheckHasShape).
  static NDArray Borrow(const DLTensor& tensor);

  // Takes over a managed tensor; its deleter runs when the last copy is gone.
  static absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* managed);

  // Shares the memory as a managed tensor, which the receiver releases.
  DLManagedTensor* ToDLPack() const;

  bool defined() const { return container_ != nullptr; }

  // The description of the array; owned by the array. NULL for no array.
  DLTensor* tensor() const;
  const DLTensor& operator*() const { return *tensor(); }
  const DLTensor* operator->() const { return tensor(); }

  absl::Span<const int64_t> shape() const { return ShapeOf(*tensor()); }
  DLDataType dtype() const { return tensor()->dtype; }
  DLDevice device() const { return tensor()->device; }
  void* data() const { return DataOf(*tensor()); }
  int64_t size_bytes() const;

  // Whether the elements are of the C++ type T: float32 is float, int8 is int8_t, boolean is bool,
  // stored in a byte, or uint8_t. float16 and bfloat16, for which C++17 has no type, are uint16_t.
  template <typename T>
  bool holds() const {
    return defined() && IsElementType(dtype(), DataTypeOf<T>());
  }

  // The elements of a compact array on the CPU that holds<T>(); it ends the program for another,
  // with a message that says what was found, since the bytes of another type mean nothing as T.
  // T may be char or std::byte for the bytes of any compact array.
  template <typename T>
  absl::Span<T> values() const {
    if constexpr (kIsByte<T>) {
      CheckValues({kDLOpaqueHandle, 8, 1});
    } else {
      CheckValues(DataTypeOf<T>());
    }
    return {static_cast<T*>(data()), static_cast<size_t>(size_bytes()) / sizeof(T)};
  }

  // Copies all elements; shape and data type must be the same, devices may differ.
  absl::Status CopyFrom(const DLTensor& source) const;
  absl::Status CopyTo(const DLTensor& target) const;

  // Copies from and to memory of the CPU of exactly size_bytes() bytes.
  absl::Status CopyFromBytes(absl::string_view bytes) const;
  absl::Status CopyToBytes(absl::Span<char> bytes) const;

  // Sets every element to `value`. InvalidArgument if an integer type does not have the value,
  // Unimplemented for types of which C++ has none, but for 0.
  absl::Status Fill(double value) const;

  // The byte form of an array: magic, device, shape, type, data. An array is always written as one
  // of the CPU; Load makes one there.
  absl::Status Save(ByteWriter& writer) const;
  static absl::StatusOr<NDArray> Load(ByteReader& reader);

  // For the C ABI: a handle that holds a reference of its own, to be given back to FromHandle.
  DLTensor* ToHandle() const;
  // Takes over the reference of a handle made by ToHandle.
  static NDArray FromHandle(DLTensor* handle);
  // A further reference to the array of a handle.
  static NDArray ShareHandle(DLTensor* handle);

 private:
  template <typename T>
  static constexpr bool kIsByte = std::is_same_v<std::remove_const_t<T>, char> ||
                                  std::is_same_v<std::remove_const_t<T>, std::byte>;

  static bool IsElementType(DLDataType found, DLDataType wanted);
  // An opaque handle stands for the bytes of any type.
  void CheckValues(DLDataType wanted) const;

  struct Container;
  explicit NDArray(Container* container) : container_(container) {}

  Container* container_ = nullptr;
};

// InvalidArgument if the number of dimensions is negative, or there are some without a shape.
absl::Status CheckHasShape(const DLTensor& tensor);

// Copies all elements of `from` to `to`. InvalidArgument if shape or type differ, or one is not
// compact.
absl::Status CopyTensor(const DLTensor& from, const DLTensor& to);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_NDARRAY_H_
