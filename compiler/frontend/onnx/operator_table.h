// SPDX-License-Identifier: Apache-2.0
// The table of operators that can be imported. It is passed to the importer, which itself knows no
// operator.
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

inline constexpr char kMachineLearningDomain[] = "ai.onnx.ml";
inline constexpr char kMicrosoftDomain[] = "com.microsoft";

class Converter;

// The conversion of an operator.
using Convert = absl::Status (*)(Converter&);

struct OnnxOperator {
  const char* name;
  Convert convert;  // null: the operator `relay` with the same inputs
  const char* relay = nullptr;
  const char* domain = "";  // "com.microsoft"; "" for ONNX's own
  // float16 inputs arrive as float32, and float32 results are rounded to float16
  // (docs/decisions/0048).
  bool rounds_once = false;
};

// Returns the row of an operator that becomes several Relay operators. Without rounds_once, each of
// them would round a float16 result.
constexpr OnnxOperator Composite(const char* name, Convert convert, const char* domain = "") {
  return {.name = name, .convert = convert, .domain = domain, .rounds_once = true};
}

// Returns "" for both names of ONNX's own domain, and other domains unchanged.
absl::string_view NormalDomain(absl::string_view domain);

class OperatorTable {
 public:
  explicit OperatorTable(std::vector<absl::Span<const OnnxOperator>> families)
      : families_(std::move(families)) {}

  // Returns null if there is none.
  const OnnxOperator* Find(absl::string_view domain, absl::string_view name) const;
  std::set<std::string> Names(absl::string_view domain) const;

 private:
  std::vector<absl::Span<const OnnxOperator>> families_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_OPERATOR_TABLE_H_
