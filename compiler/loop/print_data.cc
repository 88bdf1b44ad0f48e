// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/print_data.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/expr_node.h"

namespace kiln::loop {

std::string ShortHash(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return absl::StrFormat("%08x", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

std::string ToString(const DataValue& value) {
  return std::visit(
      Overloaded{
          [](const DataValue::Integer& v) { return absl::StrCat(v.value); },
          [](const DataValue::Float& v) { return absl::StrFormat("%.17g", v.value); },
          [](const DataValue::Text& v) { return absl::StrCat("\"", absl::CEscape(v.bytes), "\""); },
          [](const DataValue::Bytes& v) {
            return absl::StrCat("bytes(", v.bytes.size(), ", #", ShortHash(v.bytes), ")");
          },
          [](const DataValue::Address& v) {
            return v.symbol.empty() ? std::string("null") : absl::StrCat("&", v.symbol);
          },
          [](const DataValue::FuncAddress& v) { return absl::StrCat("&", v.symbol, "()"); },
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
