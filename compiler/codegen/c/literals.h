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

// "int8_t", "float". A bool is uint8_t; float16 and bfloat16 are their bits, uint16_t.
std::string CType(DType dtype);
// "u8", "f32", "bf16": in the names of helper functions.
std::string ShortName(DType dtype);

// A constant expression of the dtype's value, safe as an operand: negative ones are in parentheses.
std::string IntLiteral(DType dtype, int64_t value);
// The shortest decimal that reads back as `value`; "(1.0f / 0.0f)" for infinity, "(0.0f / 0.0f)"
// for NaN. Of float16 and bfloat16, the bits.
std::string FloatLiteral(DType dtype, double value);

// A string literal. Never makes a trigraph; what is not printable ASCII is an octal escape.
std::string StringLiteral(absl::string_view bytes);
// Longest string literal, in characters, that a C99 compiler has to take.
inline constexpr size_t kMaxStringLiteral = 4000;

// Appends the elements as the inside of an initializer, lines of at most about 110 characters, each
// after `indent`.
void AppendElements(const Tensor& tensor, absl::string_view indent, std::string* out);
// The same for unsigned bytes.
void AppendBytes(absl::string_view bytes, absl::string_view indent, std::string* out);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_LITERALS_H_
