// SPDX-License-Identifier: Apache-2.0
// Target::Host: the capabilities of this machine, from the processor and the operating system.
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/target/instructions.h"
#include "compiler/target/known_targets.h"
#include "compiler/target/target.h"
#include "runtime_cpp/cpu/this_cpu.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {
namespace {

#if defined(__x86_64__)

// Features that schedules and code generators use, in the order in which a host is described. Code
// depends on the level, features, caches and row of tuned numbers. Two machines that agree in these
// get the same bytes.
constexpr const char* kHostFeatures[] = {
    "sse4.1",     "avx2",       "fma",     "avx512f",    "avx512bw", "avx512dq", "avx512vl",
    "avx512vnni", "avx512vbmi", "avxvnni", "avx512bf16", "amx-tile", "amx-bf16", "amx-int8"};

// Requests the AMX registers from Linux. True if this process may use them; the permission is
// permanent.
bool MayUseMatrices() {
  return syscall(MatrixRequest::kCall, MatrixRequest::kOption, MatrixRequest::kComponent) == 0;
}

// Bits of the features that the CPU has and this process may use.
std::array<uint32_t, kNumCpuWords> UsableCpuWords() {
  std::array<uint32_t, kNumCpuWords> words = ReadCpuWords();
  if ((words[kCpuLeaf7Edx] & kCpuMatrixBits) != 0 && !MayUseMatrices()) {
    words[kCpuLeaf7Edx] &= ~kCpuMatrixBits;
  }
  return words;
}

// A range of processors as CPUID 1 describes them, and LLVM's name of those.
struct CpuSignature {
  unsigned family, first_model, last_model;
  absl::string_view cpu;
};

constexpr CpuSignature kIntelCpus[] = {{0x6, 0xad, 0xae, "graniterapids"}};
constexpr CpuSignature kAmdCpus[] = {{0x19, 0x10, 0x1f, "znver4"},
                                     {0x19, 0x60, 0x7f, "znver4"},
                                     {0x19, 0xa0, 0xaf, "znver4"},
                                     {0x1a, 0x00, 0xff, "znver5"}};

absl::string_view CpuOfSignature(absl::Span<const CpuSignature> table,
                                 absl::string_view otherwise) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  const unsigned family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff),
                 model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
  for (const CpuSignature& row : table) {
    if (row.family == family && row.first_model <= model && model <= row.last_model) return row.cpu;
  }
  return otherwise;
}

// LLVM's name of this CPU, to find its row of tuned numbers. Other CPUs of Intel use the row of
// Sapphire Rapids, because they issue products of bfloat16 like it. The name is empty for a CPU
// that no row is about.
absl::string_view CpuName() {
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel") != 0) return CpuOfSignature(kIntelCpus, "sapphirerapids");
  return __builtin_cpu_is("amd") != 0 ? CpuOfSignature(kAmdCpus, "") : "";
}

Target ThisMachine() {
  const std::array<uint32_t, kNumCpuWords> words = UsableCpuWords();
  const auto has = [&](const CpuFeature& feature) { return HasFeature(words, feature); };
  Target target = *FindKnownTarget(HighestX86Level(words));
  std::vector<std::string> features;
  for (const char* name : kHostFeatures) {
    if (has(*FindX86Feature(name))) features.push_back(absl::StrCat("+", name));
  }
  target.features = absl::StrJoin(features, ",");
  DescribeX86(target);
  target.machine = &MachineOf(target.triple, CpuName());
  return target;
}

#elif defined(__aarch64__)

Target ThisMachine() { return *FindKnownTarget("aarch64"); }

#else

Target ThisMachine() { return *FindKnownTarget("riscv64gc"); }

#endif

int64_t CacheBytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

Target Target::Host() {
  Target target = ThisMachine();
  target.name = "host";
  target.l1_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return target;
}

}  // namespace kiln
