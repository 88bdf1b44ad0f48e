// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/x86_features.h"

#include "absl/algorithm/container.h"
#include "runtime_cpp/cpu/implied_features.h"

namespace kiln {
namespace {

constexpr uint32_t Bit(int n) { return uint32_t{1} << n; }

// State components of XCR0: SSE and AVX; additionally the masks, upper halves and registers of
// AVX-512; tile configuration and tile data of AMX.
constexpr uint32_t kAvxState = 0x06;
constexpr uint32_t kAvx512State = 0xe6;
constexpr uint32_t kMatrixState = 0x60000;

// A level of the System V ABI for x86-64, section 3.1.1, with the features that it adds.
struct Level {
  absl::string_view name;
  std::vector<absl::string_view> features;
};

const std::vector<Level>& Levels() {
  static const auto& levels = *new std::vector<Level>{
      {"x86-64", {}},
      {"x86-64-v2", {"sse4.2", "popcnt", "cx16", "sahf"}},
      {"x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", {"avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
  };
  return levels;
}

}  // namespace

// Bits from Intel's Software Developer's Manual, volume 2, CPUID, and AMD's Architecture
// Programmer's Manual, volume 3, appendix E. A model's code may have instructions of these
// features: LLVM selects most of them, and Kiln's code generators request some.
const std::vector<CpuFeature>& X86Features() {
  static const auto& table = *new std::vector<CpuFeature>{
      {"sse3", kCpuLeaf1Ecx, Bit(0), 0, {}},
      {"ssse3", kCpuLeaf1Ecx, Bit(9), 0, {"sse3"}},
      {"sse4.1", kCpuLeaf1Ecx, Bit(19), 0, {"ssse3"}},
      {"sse4.2", kCpuLeaf1Ecx, Bit(20), 0, {"sse4.1"}},
      {"popcnt", kCpuLeaf1Ecx, Bit(23), 0, {}},
      {"cx16", kCpuLeaf1Ecx, Bit(13), 0, {}},
      {"sahf", kCpuLeaf80000001Ecx, Bit(0), 0, {}},
      {"avx", kCpuLeaf1Ecx, Bit(28), kAvxState, {"sse4.2"}},
      {"avx2", kCpuLeaf7Ebx, Bit(5), kAvxState, {"avx"}},
      {"bmi", kCpuLeaf7Ebx, Bit(3), 0, {}},
      {"bmi2", kCpuLeaf7Ebx, Bit(8), 0, {}},
      {"sse4a", kCpuLeaf80000001Ecx, Bit(6), 0, {"sse3"}},
      {"fma4", kCpuLeaf80000001Ecx, Bit(16), kAvxState, {"avx", "sse4a"}},
      {"xop", kCpuLeaf80000001Ecx, Bit(11), kAvxState, {"fma4"}},
      {"tbm", kCpuLeaf80000001Ecx, Bit(21), 0, {}},
      {"f16c", kCpuLeaf1Ecx, Bit(29), kAvxState, {"avx"}},
      {"fma", kCpuLeaf1Ecx, Bit(12), kAvxState, {"avx"}},
      {"lzcnt", kCpuLeaf80000001Ecx, Bit(5), 0, {}},
      {"movbe", kCpuLeaf1Ecx, Bit(22), 0, {}},
      {"gfni", kCpuLeaf7Ecx, Bit(8), 0, {}},
      {"avxvnni", kCpuLeaf7Sub1Eax, Bit(4), kAvxState, {"avx2"}},
      {"avx512f", kCpuLeaf7Ebx, Bit(16), kAvx512State, {"avx2", "f16c", "fma"}},
      {"avx512bw", kCpuLeaf7Ebx, Bit(30), kAvx512State, {"avx512f"}},
      {"avx512cd", kCpuLeaf7Ebx, Bit(28), kAvx512State, {"avx512f"}},
      {"avx512dq", kCpuLeaf7Ebx, Bit(17), kAvx512State, {"avx512f"}},
      {"avx512vl", kCpuLeaf7Ebx, Bit(31), kAvx512State, {"avx512f"}},
      {"avx512vnni", kCpuLeaf7Ecx, Bit(11), kAvx512State, {"avx512f"}},
      {"avx512vbmi", kCpuLeaf7Ecx, Bit(1), kAvx512State, {"avx512bw"}},
      {"avx512vbmi2", kCpuLeaf7Ecx, Bit(6), kAvx512State, {"avx512bw"}},
      {"avx512bitalg", kCpuLeaf7Ecx, Bit(12), kAvx512State, {"avx512bw"}},
      {"avx512vpopcntdq", kCpuLeaf7Ecx, Bit(14), kAvx512State, {"avx512f"}},
      {"avx512fp16", kCpuLeaf7Edx, Bit(23), kAvx512State, {"avx512bw", "avx512dq", "avx512vl"}},
      {"avx512bf16", kCpuLeaf7Sub1Eax, Bit(5), kAvx512State, {"avx512bw"}},
      {"amx-tile", kCpuLeaf7Edx, kCpuAmxTile, kMatrixState, {}},
      {"amx-bf16", kCpuLeaf7Edx, kCpuAmxBf16, kMatrixState, {"amx-tile"}},
      {"amx-int8", kCpuLeaf7Edx, kCpuAmxInt8, kMatrixState, {"amx-tile"}},
  };
  return table;
}

std::map<CpuWord, uint32_t> BitsOf(const std::vector<const CpuFeature*>& features) {
  std::map<CpuWord, uint32_t> bits;
  for (const CpuFeature* feature : features) {
    bits[feature->word] |= feature->bits;
    if (feature->xcr0 == 0) continue;
    bits[kCpuLeaf1Ecx] |= kCpuOsXsave;
    bits[kCpuXcr0] |= feature->xcr0;
  }
  return bits;
}

const CpuFeature* FindX86Feature(absl::string_view name) {
  const auto it =
      absl::c_find_if(X86Features(), [&](const CpuFeature& f) { return name == f.name; });
  return it == X86Features().end() ? nullptr : &*it;
}

std::vector<absl::string_view> X86Levels() {
  std::vector<absl::string_view> names;
  for (const Level& level : Levels()) names.push_back(level.name);
  return names;
}

bool IsX86Level(absl::string_view name) {
  return absl::c_any_of(Levels(), [&](const Level& level) { return level.name == name; });
}

bool X86LevelHasFeature(absl::string_view level, absl::string_view feature) {
  if (!IsX86Level(level)) return false;
  for (const Level& l : Levels()) {
    const auto implies = [&](absl::string_view f) { return ImpliesFeature(f, feature); };
    if (absl::c_any_of(l.features, implies)) return true;
    if (l.name == level) break;
  }
  return false;
}

}  // namespace kiln
