// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/allowances.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/instructions.h"

namespace kiln::tools {
namespace {

// Returns the features for products of bfloat16 on machines of the target's architecture, as
// options of `--target`. Empty if no machine has them.
std::string FeaturesFor(const Target& target) {
  for (const DotInstruction& row : DotInstructions()) {
    if (row.a.is_bfloat() && row.IsOfArch(target.triple)) {
      return absl::StrCat("; machines with ", row.name, " have -mattr=+", row.forms[0].features);
    }
  }
  return "";
}

}  // namespace

int CountBFloat16Products(const proto::Metadata& metadata) {
  const auto has_products = [](const proto::Function& function) {
    return std::any_of(
        DotInstructions().begin(), DotInstructions().end(), [&](const DotInstruction& row) {
          // Products of bfloat16 parts of float32 operands need no permission.
          return row.a.is_bfloat() && absl::StrContains(function.schedule(), row.name) &&
                 !absl::StrContains(function.schedule(), absl::StrCat(row.name, kOfFloat32));
        });
  };
  return static_cast<int>(
      std::count_if(metadata.functions().begin(), metadata.functions().end(), has_products));
}

void NoteWhatIsAllowedInVain(const CompileOptions& options, const proto::Metadata& metadata) {
  if (!options.schedule.bfloat16_products) return;
  bool any_target = false;
  for (const Target& target : EffectiveTargets(options)) {
    const bool has = !DotInstructionsOf(target, DType::Float(32)).empty();
    any_target |= has;
    if (has) continue;
    std::fprintf(stderr,
                 "kiln: note: --allow bf16 has no effect on %s, which has no instruction for "
                 "products of bfloat16%s\n",
                 target.name.c_str(), FeaturesFor(target).c_str());
  }
  if (!any_target || CountBFloat16Products(metadata) > 0) return;
  std::fprintf(stderr,
               "kiln: note: --allow bf16 has no effect: no operator of this model multiplies "
               "floats by constants where the instruction is the faster one on this CPU\n");
}

}  // namespace kiln::tools
