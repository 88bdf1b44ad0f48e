// SPDX-License-Identifier: Apache-2.0
// The table of named targets. Target::Parse reads it. To add a machine, add a row.
#ifndef KILN_COMPILER_TARGET_KNOWN_TARGETS_H_
#define KILN_COMPILER_TARGET_KNOWN_TARGETS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/target/target.h"

namespace kiln {

// Cores that parallel loops are scheduled for if a target with an operating system has no -cores
// option.
inline constexpr int kDefaultCores = 4;

// The targets in the order of ListTargets.
const std::vector<Target>& KnownTargets();

// Sets the vector fields and has_fma of an x86-64 target from its processor and features.
void DescribeX86(Target& target);

// The target of this name, or null.
const Target* FindKnownTarget(absl::string_view name);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_KNOWN_TARGETS_H_
