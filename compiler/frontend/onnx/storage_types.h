// SPDX-License-Identifier: Apache-2.0
// Element types of stored tensors that Kiln computes with as other types: bfloat16 and floats of 8
// and 4 bits as float32, integers of 4 and 2 bits as int8 and uint8. Each value of a stored type is
// also a value of the other.
#ifndef KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_
#define KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_

#include <cstdint>
#include <string>

#include "compiler/base/tensor.h"

namespace kiln::onnx_frontend {

// The codes of a float type that are not numbers.
enum class SpecialCodes {
  kInfinityAndNan,  // as in IEEE 754, the codes with the largest exponent
  kNanAlone,        // NaN has all bits except the sign set; no infinity
  kOneNan,          // NaN has the code of -0; no infinity and no -0
  kNone,
};

struct StorageType {
  int onnx;  // onnx::TensorProto::DataType
  const char* name;
  int bits;
  DType dtype;  // type for computation
  // Floats have the values ±(1 + mantissa / 2^mantissa_bits) · 2^exponent and, below
  // 2^min_exponent, multiples of 2^(min_exponent - mantissa_bits).
  int mantissa_bits = 0, min_exponent = 0;
  double largest = 0;
  SpecialCodes special = SpecialCodes::kNone;

  int64_t num_bytes(int64_t elements) const { return (elements * bits + 7) / 8; }
};

// Returns null if the type is one of Kiln's own, or unknown.
const StorageType* FindStorageType(int onnx_data_type);

// Unpacks elements as they are packed in a file, with the first in the lowest bits of a byte.
// `packed` must have num_bytes bytes for the elements of the shape.
Tensor Unpack(const StorageType& type, Shape shape, const std::string& packed);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_STORAGE_TYPES_H_
