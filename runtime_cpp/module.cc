// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/module.h"

#include <functional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::runtime {
namespace {

bool VisitUnseen(ModuleNode& node, std::set<const ModuleNode*>& visited,
                 const std::function<bool(ModuleNode&)>& visit) {
  if (!visited.insert(&node).second) return false;
  if (visit(node)) return true;
  return absl::c_any_of(node.imports(), [&](const ModulePtr& import) {
    return VisitUnseen(*import, visited, visit);
  });
}

}  // namespace

void ModuleNode::VisitTree(const std::function<bool(ModuleNode&)>& visit) {
  std::set<const ModuleNode*> visited;
  VisitUnseen(*this, visited, visit);
}

PackedFunc ModuleNode::FindFunctionInTree(const std::string& name) {
  PackedFunc function;
  VisitTree([&](ModuleNode& node) {
    function = node.FindFunction(name);
    return function.defined();
  });
  return function;
}

absl::StatusOr<PackedFunc> Module::GetFunction(const std::string& name, bool query_imports) const {
  PackedFunc function = query_imports ? node_->FindFunctionInTree(name) : node_->FindFunction(name);
  if (function.defined()) return function;
  if (name == "get_func_names") {
    return PackedFunc([node = node_](const Args&) -> absl::StatusOr<Value> {
      return Value(absl::StrJoin(node->FunctionNames(), "\n"));
    });
  }
  return absl::NotFoundError(absl::StrCat("a module of type '", type_key(), "' has no function '",
                                          name, "'; it has ",
                                          absl::StrJoin(FunctionNames(), ", ")));
}

PackedFunc Module::operator[](const std::string& name) const {
  absl::StatusOr<PackedFunc> function = GetFunction(name);
  return function.ok() ? *std::move(function) : PackedFunc::Failing(function.status());
}

absl::Status Module::Import(const Module& module) const {
  bool cycle = false;
  module.node_->VisitTree([&](const ModuleNode& node) { return cycle = &node == node_.get(); });
  if (cycle) return absl::InvalidArgumentError("a module cannot import one that imports it");
  node_->Import(module.node_);
  return absl::OkStatus();
}

}  // namespace kiln::runtime
