// SPDX-License-Identifier: Apache-2.0
#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/nearest.h"
#include "compiler/target/names.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

// Other names of machines that systems and tool chains use.
struct Alias {
  absl::string_view name, target;
};
constexpr Alias kAliases[] = {{"amd64", "x86-64"},    {"arm64", "aarch64"}, {"armv8", "aarch64"},
                              {"native", "host"},     {"x64", "x86-64"},    {"x86", "x86-64"},
                              {"x86-64-v1", "x86-64"}};

std::string Quoted(absl::string_view target) { return absl::StrCat(", perhaps '", target, "'"); }

// The target that code for a processor is compiled with.
absl::string_view PlainTargetOf(const Architecture& architecture, absl::string_view processor) {
  if (architecture.plain != "thumb-none-eabi") return architecture.plain;
  if (absl::StartsWith(processor, "cortex-m") || absl::StartsWith(processor, "sc")) {
    return architecture.plain;
  }
  return absl::StartsWith(processor, "cortex-r") ? "arm-none-eabi" : "arm-linux-gnueabihf";
}

// Returns "x86-64 -mcpu=znver4" for "znver4", and "" for a word that is not a processor.
std::string WithProcessor(absl::string_view word) {
  if (word == "generic") return "";
  for (const Architecture& architecture : Architectures()) {
    const std::vector<absl::string_view> names = absl::StrSplit(architecture.processors, ',');
    if (!absl::c_linear_search(names, word)) continue;
    return absl::StrCat(PlainTargetOf(architecture, word), " -mcpu=", word);
  }
  return "";
}

// Returns the triple with another architecture, or "" if the rest of it is wrong, too.
std::string WithArchitecture(absl::string_view architecture, absl::string_view rest) {
  const std::string triple = absl::StrCat(architecture, "-", rest);
  return CheckTriple(triple).ok() ? triple : "";
}

// Returns "x86_64-linux-gnu" for "x86-64-linux-gnu" and "amd64-linux-gnu".
std::string TripleOfX86(absl::string_view word) {
  for (const absl::string_view prefix : {"x86-64-", "amd64-", "x64-"}) {
    if (absl::StartsWith(word, prefix)) {
      return WithArchitecture("x86_64", word.substr(prefix.size()));
    }
  }
  return "";
}

// Returns "thumbv7em-none-eabi" for "thumb7em-none-eabi".
std::string TripleOfNearArchitecture(absl::string_view word) {
  const size_t end = word.find('-');
  if (end == absl::string_view::npos) return "";
  std::vector<std::string> names;
  for (const Architecture& architecture : Architectures()) {
    for (const absl::string_view name : absl::StrSplit(architecture.names, ',')) {
      names.emplace_back(name);
    }
  }
  for (const absl::string_view version : ArmVersions()) {
    names.push_back(absl::StrCat("arm", version));
    names.push_back(absl::StrCat("thumb", version));
  }
  const std::vector<std::string> nearest = Nearest(word.substr(0, end), names);
  return nearest.empty() ? "" : WithArchitecture(nearest[0], word.substr(end + 1));
}

}  // namespace

std::string PerhapsTarget(absl::string_view word) {
  const std::string lower = absl::AsciiStrToLower(word);
  for (const Alias& alias : kAliases) {
    if (lower == alias.name) return Quoted(alias.target);
  }
  if (const std::string triple = TripleOfX86(lower); !triple.empty()) return Quoted(triple);
  if (const std::string target = WithProcessor(lower); !target.empty()) return Quoted(target);
  std::vector<std::string> names = ListTargets();
  names.emplace_back("host");
  const std::string known = Perhaps(word, names);
  if (!known.empty()) return known;
  const std::string triple = TripleOfNearArchitecture(lower);
  return triple.empty() ? "" : Quoted(triple);
}

}  // namespace kiln
