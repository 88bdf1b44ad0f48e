// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/cpu_variants.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/target/known_targets.h"

namespace kiln {
namespace {

constexpr char kPlain[] = "x86-64";

constexpr uint32_t Bit(int n) { return uint32_t{1} << n; }

// State components of XCR0: SSE and AVX, then the masks and the upper halves and registers of
// AVX-512.
constexpr uint32_t kAvxState = 0x06;
constexpr uint32_t kAvx512State = 0xe6;

// Intel's Software Developer's Manual, volume 2, CPUID. A feature comes after those that it
// implies.
const std::vector<CpuFeature>& Table() {
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
      {"f16c", kCpuLeaf1Ecx, Bit(29), kAvxState, {"avx"}},
      {"fma", kCpuLeaf1Ecx, Bit(12), kAvxState, {"avx"}},
      {"lzcnt", kCpuLeaf80000001Ecx, Bit(5), 0, {}},
      {"movbe", kCpuLeaf1Ecx, Bit(22), 0, {}},
      {"avxvnni", kCpuLeaf7Sub1Eax, Bit(4), kAvxState, {"avx2"}},
      {"avx512f", kCpuLeaf7Ebx, Bit(16), kAvx512State, {"avx2", "f16c", "fma"}},
      {"avx512bw", kCpuLeaf7Ebx, Bit(30), kAvx512State, {"avx512f"}},
      {"avx512cd", kCpuLeaf7Ebx, Bit(28), kAvx512State, {"avx512f"}},
      {"avx512dq", kCpuLeaf7Ebx, Bit(17), kAvx512State, {"avx512f"}},
      {"avx512vl", kCpuLeaf7Ebx, Bit(31), kAvx512State, {"avx512f"}},
      {"avx512vnni", kCpuLeaf7Ecx, Bit(11), kAvx512State, {"avx512f"}},
      {"avx512vbmi", kCpuLeaf7Ecx, Bit(1), kAvx512State, {"avx512bw"}},
      {"avx512bf16", kCpuLeaf7Sub1Eax, Bit(5), kAvx512State, {"avx512bw"}},
  };
  return table;
}

// The levels of the System V ABI for x86-64, section 3.1.1, each with what it adds to the one
// before.
struct Level {
  absl::string_view name;
  std::vector<absl::string_view> features;
};

const std::vector<Level>& Levels() {
  static const auto& levels = *new std::vector<Level>{
      {kPlain, {}},
      {"x86-64-v2", {"sse4.2", "popcnt", "cx16", "sahf"}},
      {"x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", {"avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
  };
  return levels;
}

const CpuFeature* FindFeature(absl::string_view name) {
  const auto it = absl::c_find_if(Table(), [&](const CpuFeature& f) { return name == f.name; });
  return it == Table().end() ? nullptr : &*it;
}

void AddFeature(const CpuFeature& feature, std::set<const CpuFeature*>& features) {
  features.insert(&feature);
  for (const char* implied : feature.implies) AddFeature(*FindFeature(implied), features);
}

// All that CPUs of a level have; its own and those of the levels before.
std::set<const CpuFeature*> FeaturesOf(const Level* level) {
  std::set<const CpuFeature*> features;
  for (const Level* l = Levels().data(); l <= level; ++l) {
    for (const absl::string_view name : l->features) AddFeature(*FindFeature(name), features);
  }
  return features;
}

const Level* FindLevel(absl::string_view name) {
  const auto it = absl::c_find_if(Levels(), [&](const Level& l) { return l.name == name; });
  return it == Levels().end() ? nullptr : &*it;
}

absl::Status CannotTell(const Target& target, absl::string_view what) {
  const auto name = [](std::string* out, const auto& item) { absl::StrAppend(out, item.name); };
  return absl::InvalidArgumentError(
      absl::StrCat("--cpu-variants: found '", target.name, "', ", what, "; wanted one of ",
                   absl::StrJoin(Levels(), ", ", name), ", perhaps with -mattr=+ and one of ",
                   absl::StrJoin(Table(), ", ", name)));
}

}  // namespace

bool LevelHasFeature(absl::string_view level, absl::string_view feature) {
  const Level* found = FindLevel(level);
  if (found == nullptr) return false;
  return absl::c_any_of(FeaturesOf(found), [&](const CpuFeature* f) { return f->name == feature; });
}

absl::StatusOr<std::vector<const CpuFeature*>> CpuFeaturesOf(const Target& target) {
  if (!absl::StartsWith(target.triple, "x86_64-") || target.is_baremetal()) {
    return CannotTell(target, "which is no x86-64 machine with an operating system");
  }
  const Level* level = FindLevel(target.cpu);
  if (target.name == "host" || level == nullptr) {
    return CannotTell(target, "which says of no CPU what it needs");
  }
  std::set<const CpuFeature*> features = FeaturesOf(level);
  for (absl::string_view text : absl::StrSplit(target.features, ',', absl::SkipEmpty())) {
    const CpuFeature* feature = text[0] == '+' ? FindFeature(text.substr(1)) : nullptr;
    if (feature == nullptr) return CannotTell(target, absl::StrCat("whose ", text, " is unknown"));
    AddFeature(*feature, features);
  }
  // Addresses are in the order of the table.
  return std::vector<const CpuFeature*>(features.begin(), features.end());
}

absl::Status CheckCpuVariants(const std::vector<Target>& variants) {
  if (variants.empty() || variants.size() > kMaxCpuVariants) {
    return absl::InvalidArgumentError(absl::StrCat("--cpu-variants: found ", variants.size(),
                                                   " variants, wanted 1 to ", kMaxCpuVariants));
  }
  std::vector<const CpuFeature*> before;
  for (size_t i = 0; i < variants.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const std::vector<const CpuFeature*> features,
                          CpuFeaturesOf(variants[i]));
    if (i > 0) {
      if (variants[i].triple != variants[0].triple) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--cpu-variants: found '", variants[i].name, "' of ", variants[i].triple, " beside '",
            variants[0].name, "' of ", variants[0].triple, "; wanted targets of one triple"));
      }
      std::vector<const char*> lacking;
      for (const CpuFeature* feature : before) {
        if (!absl::c_linear_search(features, feature)) lacking.push_back(feature->name);
      }
      const std::string found = absl::StrCat("--cpu-variants: found '", variants[i].name,
                                             "' after '", variants[i - 1].name, "', ");
      constexpr absl::string_view kWanted =
          "; wanted the lowest first, each with all that the one before has, and more";
      if (!lacking.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat(found, "but it lacks ", absl::StrJoin(lacking, ", "), kWanted));
      }
      if (features.size() == before.size()) {
        return absl::InvalidArgumentError(absl::StrCat(found, "which has as much", kWanted));
      }
    }
    before = features;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Target>> ParseCpuVariants(const std::vector<std::string>& names) {
  std::vector<Target> variants;
  for (const std::string& name : names) {
    absl::StatusOr<Target> target = Target::Parse(name);
    if (!target.ok()) return Annotate(target.status(), "--cpu-variants: ");
    variants.push_back(*std::move(target));
  }
  KILN_RETURN_IF_ERROR(CheckCpuVariants(variants));
  return variants;
}

Target PlainTarget(const std::vector<Target>& variants) {
  Target plain = *FindKnownTarget(kPlain);
  plain.triple = variants[0].triple;
  return plain;
}

}  // namespace kiln
