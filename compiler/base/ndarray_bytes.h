// SPDX-License-Identifier: Apache-2.0
// The serialized form of a tensor that TVM's metadata section, parameter files and constant tables
// share (docs/abi.md): u64 magic, u64 0, device (i32 1, i32 0), i32 rank, dtype (u8 code, u8 bits,
// u16 lanes), i64 shape[rank], i64 bytes, the bytes. All little endian, without padding.
//
//   std::string bytes;
//   AppendNDArray(tensor, bytes);
//   absl::string_view rest = bytes;
//   KILN_ASSIGN_OR_RETURN(Tensor same, TakeNDArray(rest));   // rest is empty
#ifndef KILN_COMPILER_BASE_NDARRAY_BYTES_H_
#define KILN_COMPILER_BASE_NDARRAY_BYTES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln {

void AppendNDArray(const Tensor& tensor, std::string& out);

// Reads one tensor from the front of `bytes`, which may be untrusted, and removes it from `bytes`.
// InvalidArgument if the tensor is truncated or malformed.
absl::StatusOr<Tensor> TakeNDArray(absl::string_view& bytes);

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_NDARRAY_BYTES_H_
