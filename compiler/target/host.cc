// SPDX-License-Identifier: Apache-2.0
// Target::Host: what this machine can do, asked of the processor and the operating system.
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/target/instructions.h"
#include "compiler/target/known_targets.h"
#include "compiler/target/target.h"
#include "compiler/target/x86_features.h"

namespace kiln {
namespace {

#if defined(__x86_64__)

// What schedules and code generators make use of, in the order in which a host is described. The code
// follows from level, features and caches, and from the maker where bfloat16 is allowed, so that two
// machines which agree in them get the same bytes.
constexpr const char* kFeatures[] = {
    "sse4.1",     "avx2",       "fma",     "avx512f",    "avx512bw", "avx512dq", "avx512vl",
    "avx512vnni", "avx512vbmi", "avxvnni", "avx512bf16", "amx-tile", "amx-bf16", "amx-int8"};

// Whether Linux lets this process use the registers of AMX. A process asks once; the answer stays.
bool MayUseMatrices() {
  return syscall(MatrixRequest::kCall, MatrixRequest::kOption, MatrixRequest::kComponent) == 0;
}

std::array<uint32_t, kNumCpuWords> ReadCpuWords() {
  std::array<uint32_t, kNumCpuWords> words = {};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) words[kCpuLeaf1Ecx] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    words[kCpuLeaf7Ebx] = b;
    words[kCpuLeaf7Ecx] = c;
    words[kCpuLeaf7Edx] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) words[kCpuLeaf7Sub1Eax] = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) words[kCpuLeaf80000001Ecx] = c;
  if ((words[kCpuLeaf1Ecx] & kCpuOsXsave) != 0) {
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xd0" : "=a"(a), "=d"(d) : "c"(0));  // XGETBV
    words[kCpuXcr0] = a;
  }
  if ((words[kCpuLeaf7Edx] & kCpuMatrixBits) != 0 && !MayUseMatrices()) {
    words[kCpuLeaf7Edx] &= ~kCpuMatrixBits;
  }
  return words;
}

Target Machine() {
  const std::array<uint32_t, kNumCpuWords> words = ReadCpuWords();
  const auto has = [&](const CpuFeature& feature) {
    return absl::c_all_of(BitsOf({&feature}), [&](const auto& wanted) {
      return (words[wanted.first] & wanted.second) == wanted.second;
    });
  };
  const auto has_level = [&](absl::string_view level) {
    return absl::c_all_of(X86Features(), [&](const CpuFeature& feature) {
      return !X86LevelHasFeature(level, feature.name) || has(feature);
    });
  };
  const std::vector<absl::string_view> levels = X86Levels();
  Target target = *FindKnownTarget(*std::find_if(levels.rbegin(), levels.rend(), has_level));
  std::vector<std::string> features;
  for (const char* name : kFeatures) {
    if (has(*FindX86Feature(name))) features.push_back(absl::StrCat("+", name));
  }
  target.features = absl::StrJoin(features, ",");
  DescribeX86(target);
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel") != 0) target.bfloat_slots = kBFloatSlotsOfIntel;
  return target;
}

#elif defined(__aarch64__)

Target Machine() { return *FindKnownTarget("aarch64"); }

#else

Target Machine() { return *FindKnownTarget("riscv64gc"); }

#endif

int64_t CacheBytes(int name, int64_t otherwise) {
  const int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

Target Target::Host() {
  Target target = Machine();
  target.name = "host";
  target.l1_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return target;
}

}  // namespace kiln
