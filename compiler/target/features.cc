// SPDX-License-Identifier: Apache-2.0
// Target::HasFeatures: what a target says of itself, and what follows from its processor.
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/target/cpu_variants.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

// Features that a processor has without their being named.
struct Implied {
  absl::string_view cpu;       // of LLVM's names
  absl::string_view features;  // separated by commas
};

// Arm's processors, by their manuals; the levels of x86-64 are in cpu_variants.h.
constexpr std::array kImplied = {
    Implied{"cortex-m4", "dsp"},
    Implied{"cortex-m7", "dsp,fp64"},
    Implied{"cortex-m33", "dsp"},
    Implied{"cortex-m35p", "dsp"},
    Implied{"cortex-m55", "dsp,fp64,mve"},
    Implied{"cortex-m85", "dsp,fp64,mve"},
    Implied{"cortex-a55", "dotprod"},
    Implied{"cortex-a75", "dotprod"},
    Implied{"cortex-a76", "dotprod"},
    Implied{"cortex-a78", "dotprod"},
    Implied{"neoverse-n1", "dotprod"},
    Implied{"neoverse-n2", "dotprod,i8mm"},
    Implied{"neoverse-v1", "dotprod,i8mm"},
    Implied{"neoverse-v2", "dotprod,i8mm"},
    Implied{"apple-m1", "dotprod"},
    Implied{"apple-m2", "dotprod,i8mm"},
};

bool Contains(absl::string_view list, absl::string_view feature) {
  for (const absl::string_view f : absl::StrSplit(list, ',')) {
    if (f == feature) return true;
  }
  return false;
}

}  // namespace

bool Target::HasFeature(absl::string_view feature) const {
  // What is written last wins, as LLVM has it.
  bool said = false, has = false;
  for (const absl::string_view f : absl::StrSplit(features, ',', absl::SkipEmpty())) {
    if (f.substr(1) != feature) continue;
    said = true;
    has = f[0] == '+';
  }
  if (said) return has;
  if (LevelHasFeature(cpu, feature)) return true;
  for (const Implied& implied : kImplied) {
    if (implied.cpu == cpu) return Contains(implied.features, feature);
  }
  return false;
}

bool Target::HasFeatures(absl::string_view list) const {
  for (const absl::string_view feature : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    if (!HasFeature(feature)) return false;
  }
  return true;
}

}  // namespace kiln
