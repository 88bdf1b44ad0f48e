// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/registry.h"

#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/global_functions.h"

namespace kiln::runtime {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, PackedFunc, std::less<>> functions = BuiltInFunctions();
};

Registry& GlobalRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

absl::Status Missing(absl::string_view name) {
  return absl::NotFoundError(absl::StrCat("there is no global function '", name, "'"));
}

}  // namespace

absl::Status RegisterGlobalFunction(absl::string_view name, PackedFunc function, bool replace) {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto [found, added] = registry.functions.try_emplace(std::string(name), function);
  if (added) return absl::OkStatus();
  if (!replace) {
    return absl::AlreadyExistsError(
        absl::StrCat("global function '", name, "' is registered already"));
  }
  found->second = std::move(function);
  return absl::OkStatus();
}

absl::StatusOr<PackedFunc> GetGlobalFunction(absl::string_view name) {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.functions.find(name);
  if (found == registry.functions.end()) return Missing(name);
  return found->second;
}

absl::Status RemoveGlobalFunction(absl::string_view name) {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.functions.find(name);
  if (found == registry.functions.end()) return Missing(name);
  registry.functions.erase(found);
  return absl::OkStatus();
}

std::vector<std::string> GlobalFunctionNames() {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, function] : registry.functions) names.push_back(name);
  return names;
}

}  // namespace kiln::runtime
