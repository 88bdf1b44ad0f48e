// SPDX-License-Identifier: Apache-2.0
// The table of targets that have a name of their own. Target::Parse reads it; adding a machine is
// adding a row.
#ifndef KILN_COMPILER_TARGET_KNOWN_TARGETS_H_
#define KILN_COMPILER_TARGET_KNOWN_TARGETS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/target/target.h"

namespace kiln {

// Cores that a parallel loop counts on where an operating system runs and nothing else is said.
inline constexpr int kDefaultCores = 4;

// In the order of ListTargets.
const std::vector<Target>& KnownTargets();

// Sets what the processor and the features of an x86-64 machine say of its vector unit.
void DescribeX86(Target& target);

// Null if there is none of that name.
const Target* FindKnownTarget(absl::string_view name);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_KNOWN_TARGETS_H_
