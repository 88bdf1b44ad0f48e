// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/target.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "compiler/target/known_targets.h"
#include "compiler/target/names.h"

namespace kiln {
namespace {

// Facts that hold for every machine with the triple's architecture.
Target FromTriple(absl::string_view triple) {
  const absl::string_view arch = triple.substr(0, triple.find('-'));
  Target target;
  if (arch == "x86_64") {
    target = *FindKnownTarget("x86-64");
    target.cpu = "";
  }
  target.triple = std::string(triple);
  target.machine = &MachineOf(triple, target.cpu);
  target.cores = kDefaultCores;
  if (!NamesOs(triple)) target.SetBaremetal();
  if (arch == "x86_64") return target;
  if (absl::StartsWith(arch, "aarch64") || arch == "arm64") {
    target.vector_registers = 32;
    target.has_fma = true;
    return target;
  }
  target.vector_bits = 0;
  target.vector_registers = 0;
  target.pointer_bits = FindArchitecture(triple)->pointer_bits;
  const bool arm = absl::StartsWith(arch, "arm") || absl::StartsWith(arch, "thumb");
  if (arm) target.has_fpu = absl::StrContains(triple, "eabihf");
  if (absl::StartsWith(arch, "riscv")) target.has_fpu = false;
  target.hard_float_abi = target.has_fpu;
  return target;
}

absl::Status UnknownTarget(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("unknown target '", text, "': expected host, ",
                                                 absl::StrJoin(ListTargets(), ", "),
                                                 " or an LLVM triple", PerhapsTarget(text)));
}

absl::Status UnknownTriple(absl::string_view text, const absl::Status& why) {
  if (FindArchitecture(text) == nullptr) return UnknownTarget(text);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown target '", text, "': ", why.message(), PerhapsTarget(text)));
}

absl::Status BadOption(absl::string_view option) {
  return absl::InvalidArgumentError(
      absl::StrCat("unknown target option '", option,
                   "': expected -mcpu=, -mattr=, -mabi=, -mfloat-abi=hard|soft, -vector-bits=, "
                   "-cores="));
}

absl::Status BadValue(absl::string_view option, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("target option '", option, "': expected ", expected));
}

// InvalidArgument if a feature is both switched on and switched off.
absl::Status CheckFeatures(absl::string_view target, const std::vector<absl::string_view>& words) {
  std::map<absl::string_view, char> signs;
  for (absl::string_view word : words) {
    if (!absl::ConsumePrefix(&word, "-mattr=")) continue;
    for (const absl::string_view feature : absl::StrSplit(word, ',', absl::SkipEmpty())) {
      const auto [it, is_new] = signs.emplace(feature.substr(1), feature[0]);
      if (is_new || it->second == feature[0]) continue;
      return absl::InvalidArgumentError(absl::StrCat("target '", target, "': feature '",
                                                     feature.substr(1), "' is both on and off"));
    }
  }
  return absl::OkStatus();
}

// Parses 0 or a power of two from 64 to 2048.
bool ParseVectorBits(absl::string_view text, int* bits) {
  return absl::SimpleAtoi(text, bits) &&
         (*bits == 0 || (*bits >= 64 && *bits <= 2048 && (*bits & (*bits - 1)) == 0));
}

absl::Status ApplyOption(absl::string_view option, Target& target) {
  absl::string_view value = option;
  if (absl::ConsumePrefix(&value, "-mcpu=")) {
    target.cpu = std::string(value);
    target.machine = &MachineOf(target.triple, value);
  } else if (absl::ConsumePrefix(&value, "-mattr=")) {
    absl::StrAppend(&target.features, target.features.empty() ? "" : ",", value);
  } else if (absl::ConsumePrefix(&value, "-mabi=")) {
    target.abi = std::string(value);
  } else if (absl::ConsumePrefix(&value, "-mfloat-abi=")) {
    if (value != "hard" && value != "soft") return BadValue(option, "hard or soft");
    target.hard_float_abi = value == "hard";
    // The hard-float convention needs an FPU. The soft-float one may be used with an FPU, too.
    if (target.hard_float_abi) target.has_fpu = true;
  } else if (absl::ConsumePrefix(&value, "-vector-bits=")) {
    if (!ParseVectorBits(value, &target.vector_bits)) {
      return BadValue(option, "0 or a power of two from 64 to 2048");
    }
    if (target.vector_bits > 0 && target.vector_registers == 0) target.vector_registers = 16;
  } else if (absl::ConsumePrefix(&value, "-cores=")) {
    if (!absl::SimpleAtoi(value, &target.cores) || target.cores < 1) {
      return BadValue(option, "a number of 1 or more");
    }
  } else {
    return BadOption(option);
  }
  return absl::OkStatus();
}

// True for AArch64, which always has Neon.
bool HasNeon(absl::string_view triple) {
  return absl::StartsWith(triple, "aarch64") || absl::StartsWith(triple, "arm64");
}

}  // namespace

bool Target::has_mul_high() const { return !absl::StartsWith(triple, "x86_64"); }

bool Target::widens_bytes() const {
  return absl::StartsWith(triple, "x86_64") && HasFeature("sse4.1") && !by_c_compiler;
}

bool Target::has_doubling_mul_high() const { return HasNeon(triple); }

bool Target::has_few_registers() const {
  return absl::StartsWith(triple, "thumbv6m") || absl::StartsWith(triple, "thumbv8m.base");
}

bool Target::broadcasts_lanes() const { return HasNeon(triple); }

int Target::Lanes(DType dtype) const {
  if (vector_bits == 0 || (!vector_float && dtype.is_float())) return 1;
  // The small vector units (Helium) have no 64-bit lanes.
  if (pointer_bits == 32 && dtype.bytes() == 8) return 1;
  return std::max(1, vector_bits / (8 * dtype.bytes()));
}

void Target::SetBaremetal() {
  has_os = false;
  has_caches = false;
  short_of_memory = true;
  stack_bytes = 256;
  cores = 1;
}

int Target::buffer_alignment() const {
  return has_os ? kCacheLineBytes : std::max(16, vector_bits / 8);
}

absl::StatusOr<Target> Target::Parse(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return UnknownTarget(text);
  const absl::string_view name = words[0];
  Target target;
  if (name == "host") {
    target = Host();
  } else if (const Target* known = FindKnownTarget(name); known != nullptr) {
    target = *known;
  } else if (absl::StrContains(name, '-')) {
    const absl::Status is_triple = CheckTriple(name);
    if (!is_triple.ok()) return UnknownTriple(name, is_triple);
    target = FromTriple(name);
  } else {
    return UnknownTarget(name);
  }
  target.name = absl::StrJoin(words, " ");
  for (const absl::string_view option : absl::MakeConstSpan(words).subspan(1)) {
    KILN_RETURN_IF_ERROR(CheckOptionNames(target.name, target.triple, option));
  }
  KILN_RETURN_IF_ERROR(CheckFeatures(target.name, words));
  // Options that state a fact override facts that follow from the processor and its features, so
  // they are applied after those.
  const auto apply = [&](bool to_processor) -> absl::Status {
    for (const absl::string_view option : absl::MakeConstSpan(words).subspan(1)) {
      const bool of_processor =
          absl::StartsWith(option, "-mcpu=") || absl::StartsWith(option, "-mattr=");
      if (of_processor != to_processor) continue;
      KILN_RETURN_IF_ERROR(ApplyOption(option, target));
    }
    return absl::OkStatus();
  };
  KILN_RETURN_IF_ERROR(apply(/*to_processor=*/true));
  if (absl::StartsWith(target.triple, "x86_64")) DescribeX86(target);
  KILN_RETURN_IF_ERROR(apply(/*to_processor=*/false));
  return target;
}

std::vector<std::string> ListTargets() {
  std::vector<std::string> names;
  for (const Target& target : KnownTargets()) names.push_back(target.name);
  return names;
}

}  // namespace kiln
