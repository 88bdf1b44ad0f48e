// SPDX-License-Identifier: Apache-2.0
// Reads types, for the parser of loop programs (parse.h).
#ifndef KILN_COMPILER_LOOP_PARSE_TYPE_H_
#define KILN_COMPILER_LOOP_PARSE_TYPE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/lexer.h"

namespace kiln::loop {

// Maximum number of lanes of a vector in a text.
inline constexpr int kMaxLanes = 1 << 16;

// As DType::Parse, but also accepts bfloat16.
absl::StatusOr<DType> ParseDType(absl::string_view name);
// Gets the type with a name such as "float32", "index" or "int8x16". Returns false if there is
// none.
bool TypeOfName(absl::string_view name, Type* type);
// "float32", "index", "int8x16".
absl::StatusOr<Type> ParseType(Lexer& lexer);
// "float32[3, 4]", optionally followed by " align 64".
absl::StatusOr<Buffer> ParseBufferType(Lexer& lexer, std::string name, BufferScope scope);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_TYPE_H_
