// SPDX-License-Identifier: Apache-2.0
// Literals of Relay text: numbers, strings and scalar constants. Reading a written literal gives
// the same bits.
//
//   FloatDigits(0.1)                                       // "0.1"
//   QuoteString("a\"b")                                    // "\"a\\\"b\""
//   ScalarLiteral(Tensor::Scalar(DType::Float(16), 1))     // "1f16"
//   ParseScalar("5i64")                                    // a rank-0 int64 tensor
#ifndef KILN_COMPILER_GRAPH_LITERAL_H_
#define KILN_COMPILER_GRAPH_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln {

// Returns the fewest digits that read back as the same number: "1", "0.25", "1e-05", "inf", "-inf",
// "nan".
std::string FloatDigits(double value);
std::string FloatDigits(float value);

// Returns `text` in double quotes. Quotes, backslashes and control characters are escaped.
std::string QuoteString(absl::string_view text);

// Returns the literal of a rank-0 tensor. Absent if its dtype has no literals (int16 to int64,
// float16 to float64 and bool have) or if a literal cannot keep its bits (a NaN with a payload).
std::optional<std::string> ScalarLiteral(const Tensor& tensor);

// Parses a number as the lexer finds it: digits with an optional suffix, such as "5", "-5i64",
// "1e-05f", "inff" or "1f16". The error describes the problem.
absl::StatusOr<Tensor> ParseScalar(absl::string_view literal);
// Parse numbers in attributes: an integer, and a float that is kept as double regardless of its
// suffix.
absl::StatusOr<int64_t> ParseInt(absl::string_view literal);
absl::StatusOr<double> ParseFloat(absl::string_view literal);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_LITERAL_H_
