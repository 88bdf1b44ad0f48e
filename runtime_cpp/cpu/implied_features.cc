// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/implied_features.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "runtime_cpp/cpu/aarch64_features.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {
namespace {

// A name may be in the tables of both x86-64 and AArch64 only if it implies the same features in
// both. No name is in both tables today.
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
