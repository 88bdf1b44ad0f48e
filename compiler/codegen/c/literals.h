// SPDX-License-Identifier: Apache-2.0
// Types, numbers and strings of the IR in C's spelling.
#ifndef KILN_COMPILER_CODEGEN_C_LITERALS_H_
#define KILN_COMPILER_CODEGEN_C_LITERALS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/base/dtype.h"
#include "compiler/base/tensor.h"

namespace kiln::codegen {

// "int8_t", "float". A bool is uint8_t; float16 and bfloat16 are uint16_t with their bits.
std::string CType(DType dtype);
// "u8", "f32", "bf16", for the names of helper functions.
std::string ShortName(DType dtype);

// A constant expression with the value, safe as an operand: negative values are in parentheses.
std::string IntLiteral(DType dtype, int64_t value);
// The shortest decimal that reads back as `value`; "(1.0f / 0.0f)" for infinity, "(0.0f / 0.0f)"
// for NaN. For float16 and bfloat16, their bits as an integer.
std::string FloatLiteral(DType dtype, double value);

// A string literal without trigraphs. Characters other than printable ASCII become octal escapes.
std::string StringLiteral(absl::string_view bytes);
// Limit for string literals, in characters, which every C99 compiler accepts.
inline constexpr size_t kMaxStringLiteral = 4000;

// Appends the elements as the inside of an initializer. Lines begin with `indent` and have at most
// about 110 characters.
void AppendElements(const Tensor& tensor, absl::string_view indent, std::string* out);
// The same for unsigned bytes.
void AppendBytes(absl::string_view bytes, absl::string_view indent, std::string* out);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_LITERALS_H_
