// SPDX-License-Identifier: Apache-2.0
// TensorType: shape and dtype. Tensor: a TensorType with its bytes.
//
// Bytes are dense, row-major and little endian; a bool is one byte. A Tensor's bytes are immutable
// and shared, so that copies are cheap.
#ifndef KILN_COMPILER_BASE_TENSOR_H_
#define KILN_COMPILER_BASE_TENSOR_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/base/dtype.h"

namespace kiln {

using Shape = std::vector<int64_t>;

// "(1, 3, 8)", "(4,)", "()".
std::string ShapeToString(absl::Span<const int64_t> shape);
// Product of the extents; 1 for rank 0. The shape must be valid (CheckTensorType).
int64_t NumElements(absl::Span<const int64_t> shape);
// Row-major strides in elements.
Shape RowMajorStrides(absl::Span<const int64_t> shape);

struct TensorType {
  Shape shape;
  DType dtype;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t num_elements() const { return NumElements(shape); }
  int64_t num_bytes() const { return num_elements() * dtype.bytes(); }
  // Relay's spelling: "Tensor[(1, 2), uint8]"; for rank 0 only the dtype, "uint8".
  std::string ToString() const;

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// InvalidArgument if an extent is negative, or the rank or the size exceeds limits.h.
absl::Status CheckTensorType(const TensorType& type);

class Tensor {
 public:
  Tensor() = default;
  // `bytes` must have exactly type.num_bytes() bytes.
  Tensor(TensorType type, std::string bytes)
      : type_(std::move(type)), bytes_(std::make_shared<const std::string>(std::move(bytes))) {}

  // Makes a tensor from values of the matching C++ type: bool as uint8_t, float16 and bfloat16 as
  // their bits in a uint16_t.
  template <typename T>
  static Tensor From(Shape shape, DType dtype, absl::Span<const T> values) {
    return Tensor(
        TensorType{std::move(shape), dtype},
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  // Makes a tensor of the narrowest of int8, int16, int32 and int64 that holds all values.
  static Tensor Narrow(Shape shape, absl::Span<const int64_t> values);
  // Makes a tensor whose elements are all `value`. A float dtype rounds to nearest; an integer
  // dtype rounds towards zero and saturates.
  static Tensor Filled(TensorType type, double value);
  static Tensor Scalar(DType dtype, double value) { return Filled({{}, dtype}, value); }

  const TensorType& type() const { return type_; }
  const std::string& bytes() const { return *bytes_; }
  bool empty() const { return bytes_ == nullptr; }

  // Elements as the matching C++ type. The size of T must be that of the dtype.
  template <typename T>
  absl::Span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes_->data()), bytes_->size() / sizeof(T)};
  }

  // Element `i` in row-major order. AsDouble loses precision for integers beyond 2^53. AsInt rounds
  // a float towards zero and saturates.
  double AsDouble(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  // All elements as int64, for shapes, axes and the like.
  std::vector<int64_t> ToInts() const;

  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.type_ == b.type_ && (a.bytes_ == b.bytes_ || *a.bytes_ == *b.bytes_);
  }

 private:
  TensorType type_;
  std::shared_ptr<const std::string> bytes_ = std::make_shared<const std::string>();
};

// IEEE 754 binary16. Rounds to nearest even; overflow becomes infinity, NaN becomes a quiet NaN.
uint16_t HalfFromFloat(float value);
float FloatFromHalf(uint16_t bits);

// bfloat16, converted like x86's VCVTNEPS2BF16 (Intel's Software Developer's Manual, volume 2).
// Rounds to nearest even; overflow becomes infinity, NaN a quiet NaN, and a subnormal 0 of its
// sign.
uint16_t BFloatFromFloat(float value);
float FloatFromBFloat(uint16_t bits);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_TENSOR_H_
