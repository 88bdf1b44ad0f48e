// SPDX-License-Identifier: Apache-2.0
// CPU variants: targets of one architecture whose code is in one library. Each has all features of
// the one before. The library runs the last variant that the CPU supports.
//
//   KILN_ASSIGN_OR_RETURN(std::vector<Target> variants,
//                         ParseCpuVariants({"x86-64-v2", "x86-64-v3", "x86-64-v4"}));
#ifndef KILN_COMPILER_TARGET_CPU_VARIANTS_H_
#define KILN_COMPILER_TARGET_CPU_VARIANTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {

// Returns the features beyond plain x86-64 that code for the target needs. A feature follows
// the ones that it implies. InvalidArgument if the target is not x86-64, or if the table does not
// have its features.
absl::StatusOr<std::vector<const CpuFeature*>> CpuFeaturesOf(const Target& target);

// Returns the features, by LLVM's names, that a CPU must have to run code for the target. On x86-64
// and AArch64 with an operating system these include features of the tables in runtime_cpp/cpu. On
// all machines they include the words that the description switches on, even tuning flags.
std::vector<std::string> RequiredFeatures(const Target& target);

inline constexpr int kMaxCpuVariants = 8;

// Parses a list of variants, lowest first. InvalidArgument if a target is unknown, the table does
// not have its features, or it does not have more features than the one before.
absl::StatusOr<std::vector<Target>> ParseCpuVariants(const std::vector<std::string>& names);
// The same check for parsed targets.
absl::Status CheckCpuVariants(const std::vector<Target>& variants);

// The target of the code that chooses a variant: every CPU of the variants' architecture runs it.
Target PlainTarget(const std::vector<Target>& variants);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_CPU_VARIANTS_H_
