// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <map>

#include "compiler/ops/op_def.h"

namespace kiln {
namespace {

// Filled before main by the registrations in the operators' files.
std::map<absl::string_view, const OpDef*>& Registry() {
  static auto* registry = new std::map<absl::string_view, const OpDef*>();
  return *registry;
}

}  // namespace

namespace internal {

OpRegistration::OpRegistration(absl::Span<const OpDef> ops) {
  for (const OpDef& op : ops) {
    if (!Registry().emplace(op.name, &op).second) {
      std::fprintf(stderr, "two operators have the name %s\n", op.name.c_str());
      std::abort();
    }
  }
}

}  // namespace internal

const OpDef* FindOp(absl::string_view name) {
  auto it = Registry().find(name);
  return it == Registry().end() ? nullptr : it->second;
}

const OpSchema* FindOpSchema(absl::string_view name) { return FindOp(name); }

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> ops;
  for (const auto& [name, op] : Registry()) ops.push_back(op);
  return ops;
}

}  // namespace kiln
