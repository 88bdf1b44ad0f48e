// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/literals.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln::codegen {
namespace {

constexpr size_t kLineWidth = 110;

// Joins elements with commas and breaks lines.
class ElementWriter {
 public:
  ElementWriter(absl::string_view indent, std::string* out) : indent_(indent), out_(out) {}

  void Add(absl::string_view text) {
    const size_t column = out_->size() - line_start_;
    if (first_ || column + text.size() + 1 > kLineWidth) {
      out_->append(first_ ? "" : ",\n");
      line_start_ = out_->size();
      out_->append(indent_.data(), indent_.size());
    } else {
      out_->push_back(',');
    }
    out_->append(text.data(), text.size());
    first_ = false;
  }

 private:
  const absl::string_view indent_;
  std::string* const out_;
  size_t line_start_ = 0;
  bool first_ = true;
};

template <typename T>
void AppendInts(const Tensor& tensor, ElementWriter& writer) {
  char text[24];
  for (T value : tensor.values<T>()) {
    if (std::is_signed_v<T> && sizeof(T) == 8 && value == std::numeric_limits<T>::min()) {
      writer.Add("-9223372036854775807-1");
      continue;
    }
    char* end = std::to_chars(text, text + sizeof(text), value).ptr;
    // A decimal literal has a signed type, which cannot hold the largest values of uint64.
    if (std::is_unsigned_v<T> && sizeof(T) == 8 && static_cast<uint64_t>(value) >> 63 != 0)
      *end++ = 'u';
    writer.Add(absl::string_view(text, static_cast<size_t>(end - text)));
  }
}

// Writes a literal to `text`, which needs room for 35 characters, and returns its end.
template <typename T>
char* WriteFloat(T value, char* text) {
  char* end = std::to_chars(text, text + 32, value).ptr;
  if (absl::string_view(text, static_cast<size_t>(end - text)).find_first_of(".e") ==
      absl::string_view::npos) {
    *end++ = '.';
    *end++ = '0';
  }
  if (sizeof(T) == 4) *end++ = 'f';
  return end;
}

template <typename T>
std::string FiniteOrSpecial(T value) {
  const char* f = sizeof(T) == 4 ? "f" : "";
  if (std::isnan(value)) return absl::StrCat("(0.0", f, " / 0.0", f, ")");
  if (std::isinf(value)) return absl::StrCat(value < 0 ? "(-1.0" : "(1.0", f, " / 0.0", f, ")");
  char text[40];
  const std::string digits(text, WriteFloat(value, text));
  return std::signbit(value) ? absl::StrCat("(", digits, ")") : digits;
}

template <typename T>
void AppendFloats(const Tensor& tensor, ElementWriter& writer) {
  char text[40];
  for (T value : tensor.values<T>()) {
    if (std::isfinite(value)) {
      writer.Add(absl::string_view(text, static_cast<size_t>(WriteFloat(value, text) - text)));
    } else {
      writer.Add(FiniteOrSpecial(value));
    }
  }
}

}  // namespace

std::string CType(DType dtype) {
  if (dtype.is_bool()) return "uint8_t";
  if (dtype.is_float())
    return dtype.bits == 64 ? "double" : dtype.bits == 32 ? "float" : "uint16_t";
  return absl::StrCat(dtype.is_uint() ? "uint" : "int", dtype.bits, "_t");
}

std::string ShortName(DType dtype) {
  if (dtype.is_bool()) return "bool";
  const absl::string_view kind = dtype.is_bfloat()  ? "bf"
                                 : dtype.is_float() ? "f"
                                 : dtype.is_uint()  ? "u"
                                                    : "i";
  return absl::StrCat(kind, dtype.bits);
}

std::string IntLiteral(DType dtype, int64_t value) {
  if (dtype.is_uint()) {
    const uint64_t bits = static_cast<uint64_t>(value);
    if (dtype.bits < 32) return absl::StrCat(bits);
    return bits > std::numeric_limits<uint32_t>::max() ? absl::StrCat("UINT64_C(", bits, ")")
                                                       : absl::StrCat(bits, "u");
  }
  if (value == std::numeric_limits<int64_t>::min()) return "INT64_MIN";
  if (value == std::numeric_limits<int32_t>::min() && dtype.bits == 32) return "INT32_MIN";
  const bool wide =
      value > std::numeric_limits<int32_t>::max() || value <= std::numeric_limits<int32_t>::min();
  const std::string digits = wide ? absl::StrCat("INT64_C(", value, ")") : absl::StrCat(value);
  return value < 0 ? absl::StrCat("(", digits, ")") : digits;
}

std::string FloatLiteral(DType dtype, double value) {
  if (dtype.is_bfloat()) return absl::StrCat(BFloatFromFloat(static_cast<float>(value)));
  if (dtype.bits == 16) return absl::StrCat(HalfFromFloat(static_cast<float>(value)));
  return dtype.bits == 32 ? FiniteOrSpecial(static_cast<float>(value)) : FiniteOrSpecial(value);
}

std::string StringLiteral(absl::string_view bytes) {
  std::string result = "\"";
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    if (c == '\\' || c == '"') {
      result.push_back('\\');
      result.push_back(static_cast<char>(c));
    } else if (c == '\n') {
      result.append("\\n");
    } else if (c == '?' && i > 0 && bytes[i - 1] == '?') {
      result.append("\\?");
    } else if (absl::ascii_isprint(c)) {
      result.push_back(static_cast<char>(c));
    } else {
      // Three digits, so that the next character cannot become part of the escape.
      result.push_back('\\');
      result.push_back(static_cast<char>('0' + (c >> 6)));
      result.push_back(static_cast<char>('0' + ((c >> 3) & 7)));
      result.push_back(static_cast<char>('0' + (c & 7)));
    }
  }
  result.push_back('"');
  return result;
}

void AppendElements(const Tensor& tensor, absl::string_view indent, std::string* out) {
  ElementWriter writer(indent, out);
  const DType dtype = tensor.type().dtype;
  const bool is_signed = dtype.is_int();
  if (dtype.is_float() && dtype.bits == 32) return AppendFloats<float>(tensor, writer);
  if (dtype.is_float() && dtype.bits == 64) return AppendFloats<double>(tensor, writer);
  switch (dtype.bytes()) {
    case 1:
      return is_signed ? AppendInts<int8_t>(tensor, writer) : AppendInts<uint8_t>(tensor, writer);
    case 2:
      return is_signed ? AppendInts<int16_t>(tensor, writer) : AppendInts<uint16_t>(tensor, writer);
    case 4:
      return is_signed ? AppendInts<int32_t>(tensor, writer) : AppendInts<uint32_t>(tensor, writer);
    default:
      return is_signed ? AppendInts<int64_t>(tensor, writer) : AppendInts<uint64_t>(tensor, writer);
  }
}

void AppendBytes(absl::string_view bytes, absl::string_view indent, std::string* out) {
  ElementWriter writer(indent, out);
  char text[4];
  for (char c : bytes) {
    char* end = std::to_chars(text, text + sizeof(text), static_cast<unsigned char>(c)).ptr;
    writer.Add(absl::string_view(text, static_cast<size_t>(end - text)));
  }
}

}  // namespace kiln::codegen
