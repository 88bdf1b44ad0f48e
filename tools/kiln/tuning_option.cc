// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/tuning_option.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/tuning/tuning_file.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

std::string Describe(const TunedTarget& target) {
  return absl::StrCat("'", target.name, "' with ", target.cores,
                      target.cores == 1 ? " thread" : " threads");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tuning>> ReadTuning(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTuningFileBytes));
  KILN_ASSIGN_OR_RETURN(Tuning tuning, ParseTuning(text, path));
  return std::make_shared<const Tuning>(std::move(tuning));
}

void NoteWhatIsNotTuned(const CompileOptions& options, const Lowered& lowered) {
  if (options.schedule.tuning == nullptr) return;
  const Tuning& tuning = *options.schedule.tuning;
  const TunedTarget* last = nullptr;  // the target whose functions `lowered` has
  for (const Target& target : EffectiveTargets(options)) {
    last = tuning.Find(target);
    if (last != nullptr) continue;
    const std::string others = absl::StrJoin(
        tuning.targets, ", ",
        [](std::string* out, const TunedTarget& tuned) { absl::StrAppend(out, Describe(tuned)); });
    std::fprintf(stderr,
                 "kiln: note: %s has nothing measured for %s; its schedules are the compiler's "
                 "choice (the file is for %s)\n",
                 tuning.file.c_str(), Describe(TunedTarget::For(target)).c_str(),
                 others.empty() ? "no target" : others.c_str());
  }
  if (last == nullptr) return;
  const bool any =
      std::any_of(lowered.contractions.begin(), lowered.contractions.end(),
                  [&](const auto& at) { return last->contractions.contains(at.second.problem); });
  if (any) return;
  std::fprintf(stderr,
               "kiln: note: %s has nothing measured for the convolutions and products of this "
               "model; its schedules are the compiler's choice\n",
               tuning.file.c_str());
}

}  // namespace kiln::tools
