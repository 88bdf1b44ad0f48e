// SPDX-License-Identifier: Apache-2.0
// Element types that tensors are stored in and that Kiln computes with as others: bfloat16, floats
// of 8 and 4 bits as float32, integers of 4 and 2 bits as int8 and uint8. Each value of the former
// is one of the latter.
#ifndef KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_
#define KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_

#include <cstdint>
#include <string>

#include "compiler/base/tensor.h"

namespace kiln::onnx_frontend {

// What codes of a float mean beside numbers.
enum class SpecialCodes {
  kInfinityAndNan,  // as IEEE 754 has them: the largest exponent
  kNanAlone,        // all bits but the sign are NaN; no infinity
  kOneNan,          // the code of -0 is NaN; no infinity, no -0
  kNone,
};

struct StorageType {
  int onnx;  // onnx::TensorProto::DataType
  const char* name;
  int bits;
  DType dtype;  // that it is computed with as
  // Of floats: ±(1 + mantissa / 2^mantissa_bits) · 2^exponent, and multiples of
  // 2^(min_exponent - mantissa_bits) below 2^min_exponent.
  int mantissa_bits = 0, min_exponent = 0;
  double largest = 0;
  SpecialCodes special = SpecialCodes::kNone;

  int64_t num_bytes(int64_t elements) const { return (elements * bits + 7) / 8; }
};

// Null where the type is one of Kiln's own, or none.
const StorageType* FindStorageType(int onnx_data_type);

// Elements as they are packed in a file, the first in the lowest bits of a byte; `packed` has
// num_bytes of the shape.
Tensor Unpack(const StorageType& type, Shape shape, const std::string& packed);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_
