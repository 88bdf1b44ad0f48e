// SPDX-License-Identifier: Apache-2.0
// Reads types; for the parser of loop programs (parse.h).
#ifndef KILN_COMPILER_LOOP_PARSE_TYPE_H_
#define KILN_COMPILER_LOOP_PARSE_TYPE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/lexer.h"

namespace kiln::loop {

// Lanes of a vector in a text, at most.
inline constexpr int kMaxLanes = 1 << 16;

// That of DType::Parse, or bfloat16.
absl::StatusOr<DType> ParseDType(absl::string_view name);
// The type that is called "float32", "index" or "int8x16"; false if none is.
bool TypeOfName(absl::string_view name, Type* type);
// "float32", "index", "int8x16".
absl::StatusOr<Type> ParseType(Lexer& lexer);
// "float32[3, 4]" and perhaps " align 64".
absl::StatusOr<Buffer> ParseBufferType(Lexer& lexer, std::string name, BufferScope scope);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_TYPE_H_
