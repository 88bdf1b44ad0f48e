// SPDX-License-Identifier: Apache-2.0
// Problems: collects the errors of an import, so that one run reports them all.
#ifndef KILN_COMPILER_FRONTEND_ONNX_PROBLEMS_H_
#define KILN_COMPILER_FRONTEND_ONNX_PROBLEMS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "compiler/frontend/onnx/operator_table.h"

namespace kiln::onnx_frontend {

// Returns "node 'a'" or "nodes 'a', 'b', 'c' and 2 more".
std::string NodesText(const std::vector<std::string>& nodes);

class Problems {
 public:
  // Maximum number of problems that are collected.
  static constexpr size_t kMax = 50;

  // `operators` are searched for similar names. They must outlive this object.
  Problems(std::string path, const OperatorTable& operators)
      : path_(std::move(path)), known_(operators) {}

  // Adds a node that cannot be imported, with the message "node 'a' (Op): …". Equal messages, as a
  // loop may produce them, are added once.
  void Add(const absl::Status& problem);
  // Adds an unsupported operator at a node. `details` describe the first such node. Further nodes
  // are only counted.
  void AddOperator(const std::string& op, const std::string& node, const std::string& details);

  size_t size() const { return problems_.size() + operators_.size(); }
  bool empty() const { return size() == 0; }
  bool full() const { return size() >= kMax; }

  // Returns all problems, one per line, with the path in front. The code is Unimplemented if one
  // problem has it, otherwise the code of the first. The status contains the inputs to fix
  // (InputsToFix in import.h) of all problems.
  absl::Status Status() const;

 private:
  struct UnknownOperator {
    std::string name, details;
    std::vector<std::string> nodes;  // without duplicates, in order; `told` is the same set
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
