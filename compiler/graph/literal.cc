// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/literal.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

constexpr uint16_t kHalfNaN = 0x7e00;
constexpr uint32_t kFloatNaN = 0x7fc00000u;
constexpr uint64_t kDoubleNaN = 0x7ff8000000000000u;

template <typename T>
std::string ShortestDigits(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const std::to_chars_result result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

template <typename T>
T BitsOf(const Tensor& tensor) {
  T bits;
  std::memcpy(&bits, tensor.bytes().data(), sizeof bits);
  return bits;
}

struct NumberParts {
  absl::string_view digits;
  char suffix = 0;  // 'i', 'f' or 0
  int bits = 32;
};

// Splits a literal into digits, suffix and width: "1e-05f16" is "1e-05", 'f' and 16.
absl::StatusOr<NumberParts> SplitNumber(absl::string_view literal) {
  absl::string_view unsigned_part = absl::StripPrefix(literal, "-");
  const bool is_word =
      absl::StartsWith(unsigned_part, "inf") || absl::StartsWith(unsigned_part, "nan");
  const size_t sign = literal.size() - unsigned_part.size();
  size_t end = is_word ? 3 : unsigned_part.find_first_of("if");
  if (end == absl::string_view::npos) return NumberParts{.digits = literal};
  NumberParts parts{.digits = literal.substr(0, sign + end), .suffix = is_word ? 'f' : '\0'};
  absl::string_view rest = unsigned_part.substr(end);
  if (rest.empty()) return parts;
  parts.suffix = rest[0];
  if (rest.size() == 1 && parts.suffix == 'f') return parts;
  const absl::string_view width = rest.substr(1);
  for (int bits : {8, 16, 32, 64}) {
    if (width == absl::StrCat(bits) && !(parts.suffix == 'f' && bits == 8)) {
      parts.bits = bits;
      return parts;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found the number ", literal,
                   ", wanted one of the suffixes f, f16, f32, f64, i8, i16, i32, i64 or none"));
}

template <typename T>
absl::StatusOr<T> DigitsToFloat(absl::string_view digits) {
  const absl::string_view magnitude = absl::StripPrefix(digits, "-");
  if (magnitude == "nan") return std::numeric_limits<T>::quiet_NaN();
  T value = 0;
  const char* end = digits.data() + digits.size();
  const std::from_chars_result result = std::from_chars(digits.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number ", digits, " is too large or too small for its type"));
  }
  if (result.ec != std::errc() || result.ptr != end) {
    return absl::InvalidArgumentError(absl::StrCat("'", digits, "' is not a number"));
  }
  return value;
}

absl::StatusOr<int64_t> DigitsToInt(absl::string_view digits) {
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const std::from_chars_result result = std::from_chars(digits.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("the integer ", digits, " does not fit 64 bits"));
  }
  if (result.ec != std::errc() || result.ptr != end) {
    return absl::InvalidArgumentError(
        absl::StrCat("found the number ", digits,
                     ", wanted an integer or a float with a suffix, such as ", digits, "f"));
  }
  return value;
}

absl::StatusOr<Tensor> ParseFloatScalar(const NumberParts& parts) {
  const DType dtype = DType::Float(parts.bits);
  if (parts.bits == 64) {
    KILN_ASSIGN_OR_RETURN(double value, DigitsToFloat<double>(parts.digits));
    return Tensor::From<double>({}, dtype, {value});
  }
  KILN_ASSIGN_OR_RETURN(float value, DigitsToFloat<float>(parts.digits));
  if (parts.bits == 32) return Tensor::From<float>({}, dtype, {value});
  return Tensor::From<uint16_t>({}, dtype, {HalfFromFloat(value)});
}

absl::StatusOr<Tensor> ParseIntScalar(const NumberParts& parts) {
  KILN_ASSIGN_OR_RETURN(const int64_t value, DigitsToInt(parts.digits));
  DType dtype = DType::Int(parts.bits);
  if (value < dtype.MinInt() || value > dtype.MaxInt()) {
    if (parts.suffix != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the integer ", value, " does not fit ", dtype.ToString()));
    }
    dtype = DType::Int(64);
  }
  switch (dtype.bits) {
    case 8:
      return Tensor::From<int8_t>({}, dtype, {static_cast<int8_t>(value)});
    case 16:
      return Tensor::From<int16_t>({}, dtype, {static_cast<int16_t>(value)});
    case 32:
      return Tensor::From<int32_t>({}, dtype, {static_cast<int32_t>(value)});
    default:
      return Tensor::From<int64_t>({}, dtype, {value});
  }
}

std::optional<std::string> FloatLiteral(const Tensor& tensor) {
  if (tensor.type().dtype.bits == 16) {
    const uint16_t bits = BitsOf<uint16_t>(tensor);
    const float value = FloatFromHalf(bits);
    if (std::isnan(value) && bits != kHalfNaN) return std::nullopt;
    return absl::StrCat(ShortestDigits(value), "f16");
  }
  if (tensor.type().dtype.bits == 32) {
    const float value = BitsOf<float>(tensor);
    if (std::isnan(value) && BitsOf<uint32_t>(tensor) != kFloatNaN) return std::nullopt;
    // The shortest digits of the largest float, 3.4028235e+38, exceed it when read as a double, and
    // TVM's parser refuses them. The digits of the exact value are printed instead.
    const bool is_largest = std::abs(value) == std::numeric_limits<float>::max();
    return absl::StrCat(
        is_largest ? ShortestDigits(static_cast<double>(value)) : ShortestDigits(value), "f");
  }
  const double value = BitsOf<double>(tensor);
  if (std::isnan(value) && BitsOf<uint64_t>(tensor) != kDoubleNaN) return std::nullopt;
  return absl::StrCat(ShortestDigits(value), "f64");
}

}  // namespace

std::string FloatDigits(double value) { return ShortestDigits(value); }
std::string FloatDigits(float value) { return ShortestDigits(value); }

std::string QuoteString(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted.push_back('\\');
      quoted.push_back(c);
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += absl::StrFormat("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

std::optional<std::string> ScalarLiteral(const Tensor& tensor) {
  if (tensor.type().rank() != 0) return std::nullopt;
  const DType dtype = tensor.type().dtype;
  switch (dtype.kind) {
    case DTypeKind::kBool:
      // A bool whose byte is neither 0 nor 1 has no literal.
      if (tensor.bytes()[0] == 0) return "False";
      if (tensor.bytes()[0] == 1) return "True";
      return std::nullopt;
    case DTypeKind::kFloat:
      return FloatLiteral(tensor);
    case DTypeKind::kInt:
      if (dtype.bits == 8) return std::nullopt;
      if (dtype.bits == 32) return absl::StrCat(tensor.AsInt(0));
      return absl::StrCat(tensor.AsInt(0), "i", dtype.bits);
    case DTypeKind::kBFloat:
    case DTypeKind::kUInt:
      return std::nullopt;
  }
  return std::nullopt;
}

absl::StatusOr<Tensor> ParseScalar(absl::string_view literal) {
  KILN_ASSIGN_OR_RETURN(const NumberParts parts, SplitNumber(literal));
  return parts.suffix == 'f' ? ParseFloatScalar(parts) : ParseIntScalar(parts);
}

absl::StatusOr<int64_t> ParseInt(absl::string_view literal) {
  KILN_ASSIGN_OR_RETURN(const NumberParts parts, SplitNumber(literal));
  return DigitsToInt(parts.digits);
}

absl::StatusOr<double> ParseFloat(absl::string_view literal) {
  KILN_ASSIGN_OR_RETURN(const NumberParts parts, SplitNumber(literal));
  return DigitsToFloat<double>(parts.digits);
}

}  // namespace kiln
