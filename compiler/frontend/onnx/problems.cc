// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/problems.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/nearest.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/import.h"

namespace kiln::onnx_frontend {
namespace {

constexpr size_t kMaxNodesNamed = 3;

// Returns a suggestion of the operator that was probably meant, from the same domain. `name`
// includes the domain: "ai.onnx.ml.Scalar".
std::string PerhapsOperator(absl::string_view name, const OperatorTable& operators) {
  const size_t dot = name.rfind('.');
  const absl::string_view domain = dot == name.npos ? "" : name.substr(0, dot);
  const std::set<std::string> names = operators.Names(domain);
  return Perhaps(name.substr(dot == name.npos ? 0 : dot + 1), {names.begin(), names.end()});
}

}  // namespace

std::string NodesText(const std::vector<std::string>& nodes) {
  const size_t named = std::min(nodes.size(), kMaxNodesNamed);
  std::string text = absl::StrCat(nodes.size() == 1 ? "node '" : "nodes '",
                                  absl::StrJoin(nodes.begin(), nodes.begin() + named, "', '"), "'");
  if (nodes.size() > named) absl::StrAppend(&text, " and ", nodes.size() - named, " more");
  return text;
}

void Problems::Add(const absl::Status& problem) {
  if (full() || !said_.insert(std::string(problem.message())).second) return;
  problems_.push_back(problem);
}

void Problems::AddOperator(const std::string& op, const std::string& node,
                           const std::string& details) {
  const auto it = std::find_if(operators_.begin(), operators_.end(),
                               [&](const UnknownOperator& o) { return o.name == op; });
  if (it == operators_.end()) {
    if (!full()) operators_.push_back({op, details, {node}, {node}});
    return;
  }
  if (it->told.insert(node).second) it->nodes.push_back(node);
}

absl::Status Problems::Status() const {
  if (empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const UnknownOperator& op : operators_) {
    lines.push_back(absl::StrCat(path_, ": operator ", op.name, " is not supported",
                                 PerhapsOperator(op.name, known_), " (", NodesText(op.nodes), ")",
                                 op.details));
  }
  // If an operator is missing, other problems may follow from it, so the code is Unimplemented.
  absl::StatusCode code =
      operators_.empty() ? problems_.front().code() : absl::StatusCode::kUnimplemented;
  std::set<std::string> to_fix;
  for (const absl::Status& problem : problems_) {
    lines.push_back(absl::StrCat(path_, ": ", problem.message()));
    if (problem.code() == absl::StatusCode::kUnimplemented) code = problem.code();
    for (const std::string& name : InputsToFix(problem)) to_fix.insert(name);
  }
  if (full()) lines.push_back(absl::StrCat(path_, ": there may be more of these"));
  absl::Status status(code, absl::StrJoin(lines, "\n"));
  if (!to_fix.empty()) SetInputsToFix({to_fix.begin(), to_fix.end()}, status);
  return status;
}

}  // namespace kiln::onnx_frontend
