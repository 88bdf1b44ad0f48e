// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu_variant.h"

#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

absl::StatusOr<PackedFunc> Find(const Module& module, const std::string& name) {
  PackedFunc function = module.node()->FindFunctionInTree(name);
  if (function.defined()) return function;
  return absl::NotFoundError("the code of the model is for one target, and has no CPU variants");
}

}  // namespace

absl::StatusOr<std::string> CpuVariant(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const PackedFunc get, Find(module, "cpu_variant"));
  KILN_ASSIGN_OR_RETURN(const Value name, get());
  return name.String();
}

absl::Status SetCpuVariant(const Module& module, const std::string& name) {
  KILN_ASSIGN_OR_RETURN(const PackedFunc set, Find(module, "set_cpu_variant"));
  return set(name).status();
}

}  // namespace kiln::runtime
