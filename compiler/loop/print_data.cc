// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/print_data.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/print_expr.h"
#include "compiler/loop/print_names.h"

namespace kiln::loop {
namespace {

// Constants of at most this many elements and byte strings of at most this many bytes are written
// out.
constexpr int64_t kMaxShownElements = 8;
constexpr size_t kMaxShownBytes = 32;

std::string HashToString(absl::string_view bytes) { return absl::StrCat("#", ShortHash(bytes)); }

// True if the text of every element reads back as its bytes. The text of a NaN does not.
bool ReadsBack(const Tensor& tensor) {
  if (!tensor.type().dtype.is_float()) return true;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    if (std::isnan(tensor.AsDouble(i))) return false;
  }
  return true;
}

}  // namespace

std::string ContentsToString(const Tensor& tensor) {
  const DType dtype = tensor.type().dtype;
  const int64_t count = tensor.type().num_elements();
  if (count == 0 || count > kMaxShownElements || !ReadsBack(tensor)) {
    return HashToString(tensor.bytes());
  }
  std::vector<std::string> elements;
  for (int64_t i = 0; i < count; ++i) {
    elements.push_back(dtype.is_float() ? FloatToString(dtype, tensor.AsDouble(i))
                                        : IntToString(Type::Of(dtype), tensor.AsInt(i)));
  }
  return absl::StrCat("[", absl::StrJoin(elements, ", "), "]");
}

std::string ShortHash(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return absl::StrFormat("%08x", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

std::string ToString(const DataValue& value) {
  return std::visit(
      Overloaded{
          [](const DataValue::Integer& v) { return absl::StrCat(v.value, "i", v.bits); },
          [](const DataValue::Float& v) { return FloatToString(DType::Float(v.bits), v.value); },
          [](const DataValue::Text& v) { return QuotedToString(v.bytes); },
          [](const DataValue::Bytes& v) {
            const bool is_long = v.bytes.size() > kMaxShownBytes;
            return absl::StrCat("bytes(", v.bytes.size(), ", ",
                                is_long ? HashToString(v.bytes) : QuotedToString(v.bytes), ")");
          },
          [](const DataValue::Address& v) {
            return v.symbol.empty() ? std::string("null")
                                    : absl::StrCat("&", SymbolToString(v.symbol));
          },
          [](const DataValue::FuncAddress& v) {
            return absl::StrCat("&", SymbolToString(v.symbol), "()");
          },
          [](const DataValue::Aggregate& v) {
            return absl::StrCat(v.array ? "[" : "{",
                                absl::StrJoin(v.fields, ", ",
                                              [](std::string* out, const DataValue& field) {
                                                absl::StrAppend(out, ToString(field));
                                              }),
                                v.array ? "]" : "}");
          }},
      value.value);
}

}  // namespace kiln::loop
