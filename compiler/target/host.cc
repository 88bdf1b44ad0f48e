// SPDX-License-Identifier: Apache-2.0
// Target::Host: what this machine can do, asked of the processor and the operating system.
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/target/instructions.h"
#include "compiler/target/known_targets.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

#if defined(__x86_64__)

// The instructions beyond the level that schedules and code generators make use of. The code
// follows from level, features and caches, and from the maker where bfloat16 is allowed, so that two
// machines which agree in them get the same bytes.
#define KILN_ADD_IF_SUPPORTED(name, llvm_name) \
  if (__builtin_cpu_supports(name)) features.push_back("+" llvm_name)

// A bit of CPUID 7, subleaf 1, EAX, of whose features GCC 12 has no names.
bool HasSubleafFeature(int bit) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & (1u << bit)) != 0;
}

// Whether Linux lets this process use the registers of AMX. A process asks once; the answer stays.
bool MayUseMatrices() {
  return syscall(MatrixRequest::kCall, MatrixRequest::kOption, MatrixRequest::kComponent) == 0;
}

// A bit of CPUID 7, subleaf 0, EDX.
bool HasLeafFeature(int bit) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << bit)) != 0;
}

Target Machine() {
  __builtin_cpu_init();
  std::vector<std::string> features;
  KILN_ADD_IF_SUPPORTED("sse4.1", "sse4.1");
  KILN_ADD_IF_SUPPORTED("avx2", "avx2");
  KILN_ADD_IF_SUPPORTED("fma", "fma");
  KILN_ADD_IF_SUPPORTED("avx512f", "avx512f");
  KILN_ADD_IF_SUPPORTED("avx512bw", "avx512bw");
  KILN_ADD_IF_SUPPORTED("avx512dq", "avx512dq");
  KILN_ADD_IF_SUPPORTED("avx512vl", "avx512vl");
  KILN_ADD_IF_SUPPORTED("avx512vnni", "avx512vnni");
  KILN_ADD_IF_SUPPORTED("avx512vbmi", "avx512vbmi");
  // Their registers are AVX2's and AVX-512's.
  if (__builtin_cpu_supports("avx2") && HasSubleafFeature(4)) features.push_back("+avxvnni");
  if (__builtin_cpu_supports("avx512bw") && HasSubleafFeature(5)) {
    features.push_back("+avx512bf16");
  }
  if (__builtin_cpu_supports("avx512f") && HasLeafFeature(24) && MayUseMatrices()) {
    features.push_back("+amx-tile");
    if (HasLeafFeature(22)) features.push_back("+amx-bf16");
    if (HasLeafFeature(25)) features.push_back("+amx-int8");
  }

  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") &&
                  __builtin_cpu_supports("ssse3");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
  Target target = *FindKnownTarget(v4   ? "x86-64-v4"
                                   : v3 ? "x86-64-v3"
                                   : v2 ? "x86-64-v2"
                                        : "x86-64");
  target.features = absl::StrJoin(features, ",");
  if (__builtin_cpu_is("intel") != 0) target.bfloat_slots = kBFloatSlotsOfIntel;
  return target;
}

#undef KILN_ADD_IF_SUPPORTED

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
