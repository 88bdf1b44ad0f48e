// SPDX-License-Identifier: Apache-2.0
// The CPU that this process runs on.
//
//   // On a CPU with AVX2 but without FMA:
//   MissingFeatures({"avx2", "fma"})  // {"fma"}: code that uses it would end in SIGILL
#ifndef KILN_RUNTIME_CPP_CPU_THIS_CPU_H_
#define KILN_RUNTIME_CPP_CPU_THIS_CPU_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {

// Returns the words of CpuWord, all 0 on machines other than x86-64. kCpuLeaf7Edx is the result of
// CPUID: Linux may still refuse the registers of AMX.
std::array<uint32_t, kNumCpuWords> ReadCpuWords();

// True if a CPU with these words has the feature and its operating system saves the registers.
bool HasFeature(const std::array<uint32_t, kNumCpuWords>& words, const CpuFeature& feature);

// Returns the features of the list, by LLVM's names, that this CPU or its operating system lacks,
// in the order of `features`. Features that imply another missing feature are left out. So are
// names that the tables of this package do not have, because nothing is known about them.
std::vector<std::string> MissingFeatures(const std::vector<std::string>& features);

// Returns the highest level of x86-64 whose features a CPU with these words has: "x86-64-v3".
absl::string_view HighestX86Level(const std::array<uint32_t, kNumCpuWords>& words);

// Returns the level of this CPU; empty on machines other than x86-64.
absl::string_view LevelOfThisCpu();

// Returns a readable text for a CPU and its features: "x86-64-v4 with avx512vnni, avx512bf16".
// Features that follow from the level of x86-64 `cpu`, or from another feature, are left out.
std::string CpuText(absl::string_view cpu, const std::vector<std::string>& features);

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_THIS_CPU_H_
