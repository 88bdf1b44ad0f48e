// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/operator_table.h"

namespace kiln::onnx_frontend {

absl::string_view NormalDomain(absl::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

const OnnxOperator* OperatorTable::Find(absl::string_view domain, absl::string_view name) const {
  for (absl::Span<const OnnxOperator> rows : families_) {
    for (const OnnxOperator& row : rows) {
      if (name == row.name && NormalDomain(domain) == row.domain) return &row;
    }
  }
  return nullptr;
}

std::set<std::string> OperatorTable::Names(absl::string_view domain) const {
  std::set<std::string> names;
  for (absl::Span<const OnnxOperator> rows : families_) {
    for (const OnnxOperator& row : rows) {
      if (NormalDomain(domain) == row.domain) names.insert(row.name);
    }
  }
  return names;
}

}  // namespace kiln::onnx_frontend
