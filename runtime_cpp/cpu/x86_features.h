// SPDX-License-Identifier: Apache-2.0
// Features of x86-64 CPUs: how to see that a CPU has one, what follows from it, and which the levels of
// the ABI have.
//
// The features of a CPU follow from the words that CPUID and XGETBV give. A choice by features is
// therefore a function of these words: compiler/variants/variants.h makes it.
#ifndef KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_
#define KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

// The words that say what an x86-64 CPU and its operating system have; 0 where the CPU has no such
// leaf, or the operating system has not enabled XGETBV. Code generators read them in this order.
enum CpuWord : int {
  kCpuLeaf1Ecx,  // CPUID 1
  kCpuLeaf7Ebx,  // CPUID 7, subleaf 0
  kCpuLeaf7Ecx,  // CPUID 7, subleaf 0
  kCpuLeaf7Edx,  // CPUID 7, subleaf 0; without kCpuMatrixBits where Linux refuses their registers
  kCpuLeaf7Sub1Eax,     // CPUID 7, subleaf 1
  kCpuLeaf80000001Ecx,  // CPUID 0x80000001
  kCpuXcr0,             // XGETBV 0: registers that the operating system saves
};
inline constexpr int kNumCpuWords = 7;

// AMX in kCpuLeaf7Edx. Its registers are a process's once it has asked for them (MatrixRequest in
// instructions.h).
inline constexpr uint32_t kCpuAmxBf16 = 1u << 22, kCpuAmxTile = 1u << 24, kCpuAmxInt8 = 1u << 25;
inline constexpr uint32_t kCpuMatrixBits = kCpuAmxBf16 | kCpuAmxTile | kCpuAmxInt8;

// In kCpuLeaf1Ecx: XGETBV may be executed.
inline constexpr uint32_t kCpuOsXsave = 1u << 27;

// A feature of a CPU by LLVM's name, which gcc and clang know too, and how to see it.
struct CpuFeature {
  const char* name;  // "avx2"
  CpuWord word;
  uint32_t bits;  // of that word, all of them
  uint32_t xcr0;  // bits of kCpuXcr0 that it needs besides; those need OSXSAVE
  std::vector<const char*> implies;
};

// The bits of each word that a CPU has to have all of where it has the features.
std::map<CpuWord, uint32_t> BitsOf(const std::vector<const CpuFeature*>& features);

// All that Kiln knows, each after those that it implies.
const std::vector<CpuFeature>& X86Features();
// Null if there is none of the name.
const CpuFeature* FindX86Feature(absl::string_view name);

// The levels of the System V ABI for x86-64, lowest first.
std::vector<absl::string_view> X86Levels();
bool IsX86Level(absl::string_view name);
// True if every CPU of the level has the feature; false for other names.
bool X86LevelHasFeature(absl::string_view level, absl::string_view feature);

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_CPU_X86_FEATURES_H_
