// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/this_cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>

#include "runtime_cpp/cpu/aarch64_features.h"
#endif

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime_cpp/cpu/implied_features.h"

namespace kiln {
namespace {

// Returns the features that the CPU certainly lacks. CPUID is executed once for all of them,
// because a hypervisor takes microseconds for each execution.
std::vector<std::string> CertainlyMissing(const std::vector<std::string>& features) {
#if defined(__x86_64__)
  const std::array<uint32_t, kNumCpuWords> words = ReadCpuWords();
  const auto is_missing = [&](const std::string& name) {
    const CpuFeature* const feature = FindX86Feature(name);
    return feature != nullptr && !HasFeature(words, *feature);
  };
#elif defined(__aarch64__)
  const uint64_t hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
  const auto is_missing = [&](const std::string& name) {
    return absl::c_any_of(Aarch64Features(), [&](const Aarch64Feature& feature) {
      return name == feature.name && ((hwcap & feature.hwcap) != feature.hwcap ||
                                      (hwcap2 & feature.hwcap2) != feature.hwcap2);
    });
  };
#else
  const auto is_missing = [](const std::string&) { return false; };
#endif
  std::vector<std::string> missing;
  absl::c_copy_if(features, std::back_inserter(missing), is_missing);
  return missing;
}

// True if `feature` implies another feature of the list.
bool ImpliesAnother(const std::string& feature, const std::vector<std::string>& list) {
  return absl::c_any_of(list, [&](const std::string& other) {
    return other != feature && ImpliesFeature(feature, other);
  });
}

}  // namespace

std::array<uint32_t, kNumCpuWords> ReadCpuWords() {
  std::array<uint32_t, kNumCpuWords> words = {};
#if defined(__x86_64__)
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
#endif
  return words;
}

bool HasFeature(const std::array<uint32_t, kNumCpuWords>& words, const CpuFeature& feature) {
  return absl::c_all_of(BitsOf({&feature}), [&](const auto& wanted) {
    return (words[wanted.first] & wanted.second) == wanted.second;
  });
}

std::vector<std::string> MissingFeatures(const std::vector<std::string>& features) {
  const std::vector<std::string> missing = CertainlyMissing(features);
  std::vector<std::string> result;
  absl::c_copy_if(missing, std::back_inserter(result),
                  [&](const std::string& name) { return !ImpliesAnother(name, missing); });
  return result;
}

absl::string_view HighestX86Level(const std::array<uint32_t, kNumCpuWords>& words) {
  const std::vector<absl::string_view> levels = X86Levels();
  return *std::find_if(levels.rbegin(), levels.rend(), [&](absl::string_view level) {
    return absl::c_all_of(X86Features(), [&](const CpuFeature& feature) {
      return !X86LevelHasFeature(level, feature.name) || HasFeature(words, feature);
    });
  });
}

absl::string_view LevelOfThisCpu() {
#if defined(__x86_64__)
  return HighestX86Level(ReadCpuWords());
#else
  return "";
#endif
}

std::string CpuText(absl::string_view cpu, const std::vector<std::string>& features) {
  std::vector<std::string> shown;
  for (const std::string& feature : features) {
    const bool follows =
        X86LevelHasFeature(cpu, feature) || absl::c_any_of(features, [&](const std::string& other) {
          return other != feature && ImpliesFeature(other, feature);
        });
    if (!follows) shown.push_back(feature);
  }
  if (shown.empty()) return std::string(cpu);
  return absl::StrCat(cpu, cpu.empty() ? "a CPU with " : " with ", absl::StrJoin(shown, ", "));
}

}  // namespace kiln
