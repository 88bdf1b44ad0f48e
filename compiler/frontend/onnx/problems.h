// SPDX-License-Identifier: Apache-2.0
// Problems: what stands against the import of a model, gathered so that one run tells all of it.
#ifndef KILN_COMPILER_FRONTEND_ONNX_PROBLEMS_H_
#define KILN_COMPILER_FRONTEND_ONNX_PROBLEMS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/operator_table.h"

namespace kiln::onnx_frontend {

// "node 'a'", "nodes 'a', 'b', 'c' and 2 more".
std::string NodesText(const std::vector<std::string>& nodes);

class Problems {
 public:
  // More than these are not gathered.
  static constexpr size_t kMax = 50;

  // `operators`, among which one that was meant is looked for, must outlive it.
  Problems(std::string path, const OperatorTable& operators)
      : path_(std::move(path)), known_(operators) {}

  // A node that cannot be imported: "node 'a' (Op): …" as message. Said once, however often a loop
  // comes to it.
  void Add(const absl::Status& problem);
  // An operator that Kiln does not have, at a node. `details` says of the first such node what is
  // known of it; the others are counted.
  void AddOperator(const std::string& op, const std::string& node, const std::string& details);

  size_t size() const { return problems_.size() + operators_.size(); }
  bool empty() const { return size() == 0; }
  bool full() const { return size() >= kMax; }

  // All of them, a line each, which begin with the path. Unimplemented if one of them is, else the
  // code of the first; with what InputsToFix (import.h) finds in them.
  absl::Status Status() const;

 private:
  struct UnknownOperator {
    std::string name, details;
    std::vector<std::string> nodes;  // each once, as `told` has them
    std::set<std::string> told;
  };

  std::string path_;
  const OperatorTable& known_;
  std::vector<absl::Status> problems_;
  std::set<std::string> said_;
  std::vector<UnknownOperator> operators_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_PROBLEMS_H_
