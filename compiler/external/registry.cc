// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/external/external_codegen.h"

namespace kiln {
namespace {

// Filled before main, by the registrations in the generators' libraries.
std::map<absl::string_view, const ExternalCodegen*>& Registry() {
  static auto* registry = new std::map<absl::string_view, const ExternalCodegen*>();
  return *registry;
}

}  // namespace

namespace internal {

ExternalRegistration::ExternalRegistration(const ExternalCodegen& codegen) {
  if (!Registry().emplace(codegen.name, &codegen).second) {
    std::fprintf(stderr, "two external code generators have the name %s\n", codegen.name.c_str());
    std::abort();
  }
}

}  // namespace internal

const ExternalCodegen* FindExternalCodegen(absl::string_view name) {
  auto it = Registry().find(name);
  return it == Registry().end() ? nullptr : it->second;
}

std::vector<const ExternalCodegen*> AllExternalCodegens() {
  std::vector<const ExternalCodegen*> codegens;
  for (const auto& [name, codegen] : Registry()) codegens.push_back(codegen);
  return codegens;
}

absl::Status UnknownExternalCodegen(absl::string_view name) {
  std::string known;
  for (const auto& [other, codegen] : Registry()) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", other);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found '", name, "', which is not built into this compiler; wanted one of ",
                   known.empty() ? "none: it has no external code generators" : known));
}

absl::Status CheckOp(const ExternalCodegen& codegen, const Graph& graph, const Node& node) {
  for (const ExternalOp& op : codegen.ops) {
    if (op.op == node.op_name()) {
      return op.check == nullptr ? absl::OkStatus() : op.check(graph, node);
    }
  }
  return absl::UnimplementedError(absl::StrCat(codegen.name, " does not take ", node.op_name()));
}

}  // namespace kiln
