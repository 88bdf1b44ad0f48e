// SPDX-License-Identifier: Apache-2.0
// The operators that can be imported, as the importer looks them up: a table that it is given, so
// that it knows none of them.
#ifndef KILN_COMPILER_FRONTEND_ONNX_OPERATOR_TABLE_H_
#define KILN_COMPILER_FRONTEND_ONNX_OPERATOR_TABLE_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln::onnx_frontend {

class Converter;

// How an operator is converted.
using Convert = absl::Status (*)(Converter&);

struct OnnxOperator {
  const char* name;
  Convert convert;  // null: `relay` with the same inputs
  const char* relay = nullptr;
  const char* domain = "";  // "com.microsoft"; "" is ONNX's own
  // float16 inputs come as float32, and float32 results are rounded to float16 (docs/decisions/0048).
  bool rounds_once = false;
};

// An operator that becomes several. Each of them would round a float16 result.
constexpr OnnxOperator Composite(const char* name, Convert convert, const char* domain = "") {
  return {.name = name, .convert = convert, .domain = domain, .rounds_once = true};
}

// ONNX's own domain has two names; this is "" for both.
absl::string_view NormalDomain(absl::string_view domain);

class OperatorTable {
 public:
  explicit OperatorTable(std::vector<absl::Span<const OnnxOperator>> families)
      : families_(std::move(families)) {}

  // Null if there is none.
  const OnnxOperator* Find(absl::string_view domain, absl::string_view name) const;
  std::set<std::string> Names(absl::string_view domain) const;

 private:
  std::vector<absl::Span<const OnnxOperator>> families_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_OPERATOR_TABLE_H_
