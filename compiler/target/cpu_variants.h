// SPDX-License-Identifier: Apache-2.0
// CPU variants: targets of one architecture, each of which can do all that the one before it can,
// whose code is in one library. The library runs the last one that the CPU has.
//
//   KILN_ASSIGN_OR_RETURN(std::vector<Target> variants,
//                         ParseCpuVariants({"x86-64-v2", "x86-64-v3", "x86-64-v4"}));
//
// What a CPU has is read from the words that CPUID and XGETBV give, so that the choice is a
// function of these words: compiler/variants/variants.h makes it.
#ifndef KILN_COMPILER_TARGET_CPU_VARIANTS_H_
#define KILN_COMPILER_TARGET_CPU_VARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln {

// The words that say what an x86-64 CPU and its operating system have; 0 where the CPU has no such
// leaf, or the operating system has not enabled XGETBV. Code generators read them in this order.
enum CpuWord : int {
  kCpuLeaf1Ecx,         // CPUID 1
  kCpuLeaf7Ebx,         // CPUID 7, subleaf 0
  kCpuLeaf7Ecx,         // CPUID 7, subleaf 0
  kCpuLeaf7Sub1Eax,     // CPUID 7, subleaf 1
  kCpuLeaf80000001Ecx,  // CPUID 0x80000001
  kCpuXcr0,             // XGETBV 0: registers that the operating system saves
};
inline constexpr int kNumCpuWords = 6;

// A feature of a CPU by LLVM's name, which gcc and clang know too, and how to see it.
struct CpuFeature {
  const char* name;  // "avx2"
  CpuWord word;
  uint32_t bits;  // of that word, all of them
  uint32_t xcr0;  // bits of kCpuXcr0 that it needs besides; those need OSXSAVE
  std::vector<const char*> implies;
};

// Whether every CPU of an x86-64 level ("x86-64-v3") has the feature; false for other names.
bool LevelHasFeature(absl::string_view level, absl::string_view feature);

// The features beyond plain x86-64 that code of the target needs, each after those that it implies.
// InvalidArgument if the target is no x86-64 one, or what it needs cannot be told by the table.
absl::StatusOr<std::vector<const CpuFeature*>> CpuFeaturesOf(const Target& target);

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
