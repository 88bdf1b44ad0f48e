// SPDX-License-Identifier: Apache-2.0
// Features of x86-64 CPUs: how to detect a feature, the features that it implies, and the features
// of the levels of the ABI.
//
// The features of a CPU follow from the words that CPUID and XGETBV return. A choice by features is
// therefore a function of these words: compiler/variants/variants.h makes it.
#ifndef KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_
#define KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

// The words that describe the features of an x86-64 CPU and its operating system. A word is 0 if
// the CPU has no such leaf, or the operating system has not enabled XGETBV. Code generators read
// the words in this order.
enum CpuWord : int {
  kCpuLeaf1Ecx,         // CPUID 1
  kCpuLeaf7Ebx,         // CPUID 7, subleaf 0
  kCpuLeaf7Ecx,         // CPUID 7, subleaf 0
  kCpuLeaf7Edx,         // CPUID 7, subleaf 0; without kCpuMatrixBits if Linux refuses the registers
  kCpuLeaf7Sub1Eax,     // CPUID 7, subleaf 1
  kCpuLeaf80000001Ecx,  // CPUID 0x80000001
  kCpuXcr0,             // XGETBV 0: registers that the operating system saves
};
inline constexpr int kNumCpuWords = 7;

// Bits of AMX in kCpuLeaf7Edx. A process may use the registers of AMX after it has requested them
// (MatrixRequest in instructions.h).
inline constexpr uint32_t kCpuAmxBf16 = 1u << 22, kCpuAmxTile = 1u << 24, kCpuAmxInt8 = 1u << 25;
inline constexpr uint32_t kCpuMatrixBits = kCpuAmxBf16 | kCpuAmxTile | kCpuAmxInt8;

// Bit in kCpuLeaf1Ecx: XGETBV may be executed.
inline constexpr uint32_t kCpuOsXsave = 1u << 27;

// A feature of a CPU by LLVM's name, which gcc and clang also use, and its detection.
struct CpuFeature {
  const char* name;  // "avx2"
  CpuWord word;
  uint32_t bits;  // Bits of `word`; the feature needs all of them.
  uint32_t xcr0;  // Bits of kCpuXcr0 that it also needs. They require kCpuOsXsave.
  std::vector<const char*> implies;
};

// Returns the bits of each word that a CPU with all of these features has set.
std::map<CpuWord, uint32_t> BitsOf(const std::vector<const CpuFeature*>& features);

// All features that Kiln knows. A feature comes after the features that it implies.
const std::vector<CpuFeature>& X86Features();
// Returns the feature of that name, or null if there is none.
const CpuFeature* FindX86Feature(absl::string_view name);

// Returns the levels of the System V ABI for x86-64, lowest first.
std::vector<absl::string_view> X86Levels();
bool IsX86Level(absl::string_view name);
// True if every CPU of the level has the feature. False if `level` is not a level.
bool X86LevelHasFeature(absl::string_view level, absl::string_view feature);

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_
