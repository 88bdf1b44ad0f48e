// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/implied_features.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "runtime_cpp/cpu/aarch64_features.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {
namespace {

// A feature of x86-64 and one of AArch64 may have one name only where they imply the same: no
// name is in both tables today.
template <typename Feature>
bool Implies(const std::vector<Feature>& table, absl::string_view feature,
             absl::string_view other) {
  return absl::c_any_of(table, [&](const Feature& row) {
    return row.name == feature && absl::c_any_of(row.implies, [&](const char* implied) {
             return ImpliesFeature(implied, other);
           });
  });
}

}  // namespace

bool ImpliesFeature(absl::string_view feature, absl::string_view other) {
  return feature == other || Implies(X86Features(), feature, other) ||
         Implies(Aarch64Features(), feature, other);
}

}  // namespace kiln
