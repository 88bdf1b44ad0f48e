// SPDX-License-Identifier: Apache-2.0
// CPU variants: targets of one architecture, each of which can do all that the one before it can,
// whose code is in one library. The library runs the last one that the CPU has.
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

// The features beyond plain x86-64 that code of the target needs, each after those that it implies.
// InvalidArgument if the target is no x86-64 one, or what it needs cannot be told by the table.
absl::StatusOr<std::vector<const CpuFeature*>> CpuFeaturesOf(const Target& target);

// The features, by LLVM's names, that a CPU must have to run code for the target: on x86-64 and
// AArch64 with an operating system those of the tables in runtime_cpp/cpu, and on all machines the
// words that the description switches on, tuning flags among them.
std::vector<std::string> RequiredFeatures(const Target& target);

inline constexpr int kMaxCpuVariants = 8;

// The targets of a list of variants, lowest first. InvalidArgument if one is unknown or needs what
// cannot be told, or does not have more than the one before.
absl::StatusOr<std::vector<Target>> ParseCpuVariants(const std::vector<std::string>& names);
// The same test for targets that are parsed already.
absl::Status CheckCpuVariants(const std::vector<Target>& variants);

// What every CPU of the variants' architecture runs: the code that chooses one is for it.
Target PlainTarget(const std::vector<Target>& variants);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_CPU_VARIANTS_H_
