// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/cpu_variants.h"

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/base/status.h"
#include "compiler/target/known_targets.h"
#include "runtime_cpp/cpu/aarch64_features.h"

namespace kiln {
namespace {

constexpr char kPlain[] = "x86-64";

absl::Status CannotTell(const Target& target, absl::string_view what) {
  const auto name = [](std::string* out, const CpuFeature& f) { absl::StrAppend(out, f.name); };
  return absl::InvalidArgumentError(
      absl::StrCat("--cpu-variants: found '", target.name, "', ", what, "; wanted one of ",
                   absl::StrJoin(X86Levels(), ", "), ", perhaps with -mattr=+ and one of ",
                   absl::StrJoin(X86Features(), ", ", name)));
}

}  // namespace

absl::StatusOr<std::vector<const CpuFeature*>> CpuFeaturesOf(const Target& target) {
  if (!absl::StartsWith(target.triple, "x86_64-") || target.is_baremetal()) {
    return CannotTell(target, "which is no x86-64 machine with an operating system");
  }
  if (target.name == "host" || !IsX86Level(target.cpu)) {
    return CannotTell(target, "which says of no CPU what it needs");
  }
  for (absl::string_view text : absl::StrSplit(target.features, ',', absl::SkipEmpty())) {
    if (text[0] != '+' || FindX86Feature(text.substr(1)) == nullptr) {
      return CannotTell(target, absl::StrCat("whose ", text, " is unknown"));
    }
  }
  std::vector<const CpuFeature*> features;
  for (const CpuFeature& feature : X86Features()) {
    if (target.HasFeature(feature.name)) features.push_back(&feature);
  }
  return features;
}

std::vector<std::string> RequiredFeatures(const Target& target) {
  std::vector<std::string> features;
  const auto add = [&](absl::string_view name) {
    if (target.HasFeature(name) && !absl::c_linear_search(features, name)) {
      features.emplace_back(name);
    }
  };
  if (target.has_os && absl::StartsWith(target.triple, "x86_64")) {
    for (const CpuFeature& feature : X86Features()) add(feature.name);
  } else if (target.has_os && absl::StartsWith(target.triple, "aarch64")) {
    for (const Aarch64Feature& feature : Aarch64Features()) add(feature.name);
  }
  for (const absl::string_view word : absl::StrSplit(target.features, ',', absl::SkipEmpty())) {
    if (word[0] == '+') add(word.substr(1));
  }
  return features;
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
