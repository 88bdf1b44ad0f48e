// SPDX-License-Identifier: Apache-2.0
// Literals of Relay text: numbers, strings and scalar constants, written so that reading them gives
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

// The fewest digits that read back as the same number: "1", "0.25", "1e-05", "inf", "-inf", "nan".
std::string FloatDigits(double value);
std::string FloatDigits(float value);

// `text` in double quotes; a quote, a backslash and control characters are escaped.
std::string QuoteString(absl::string_view text);

// The literal of a rank-0 tensor of a dtype that has one (int16 to int64, float16 to float64, bool)
// and a value that the literal keeps (a NaN with a payload has none).
std::optional<std::string> ScalarLiteral(const Tensor& tensor);

// Number literals as the lexer finds them: digits with a suffix such as "5", "-5i64", "1e-05f",
// "inff", "1f16". The error says what is wrong.
absl::StatusOr<Tensor> ParseScalar(absl::string_view literal);
// Of attributes: an integer, and a float that is kept as double whatever its suffix says.
absl::StatusOr<int64_t> ParseInt(absl::string_view literal);
absl::StatusOr<double> ParseFloat(absl::string_view literal);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_LITERAL_H_
