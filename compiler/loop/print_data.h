// SPDX-License-Identifier: Apache-2.0
// Text of constant data, for the printer of programs and for callers of the parser that supply
// contents shown by their hash.
#ifndef KILN_COMPILER_LOOP_PRINT_DATA_H_
#define KILN_COMPILER_LOOP_PRINT_DATA_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"
#include "compiler/loop/data.h"

namespace kiln::loop {

// "{42i32, "x", &symbol}"; long byte strings are shown as their size and hash.
std::string ToString(const DataValue& value);
// Returns the elements of a small tensor, "[1i32, 2i32]", or the hash of its bytes, "#29103aad".
std::string ContentsToString(const Tensor& tensor);
// Returns eight hexadecimal digits that tell contents apart: the 64-bit FNV-1a hash, folded to 32
// bits.
std::string ShortHash(absl::string_view bytes);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_DATA_H_
