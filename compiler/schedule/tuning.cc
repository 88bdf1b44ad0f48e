// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/tuning.h"

#include <algorithm>

namespace kiln {

TunedTarget TunedTarget::For(const Target& target) {
  return {.name = target.name,
          .triple = target.triple,
          .cpu = target.cpu,
          .features = target.features,
          .cores = target.cores,
          .contractions = {}};
}

bool TunedTarget::IsFor(const Target& target) const {
  return triple == target.triple && cpu == target.cpu && features == target.features &&
         cores == target.cores;
}

const TunedTarget* Tuning::Find(const Target& target) const {
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const TunedTarget& tuned) { return tuned.IsFor(target); });
  return found == targets.end() ? nullptr : &*found;
}

TunedTarget& Tuning::FindOrAdd(const Target& target) {
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const TunedTarget& tuned) { return tuned.IsFor(target); });
  return found == targets.end() ? targets.emplace_back(TunedTarget::For(target)) : *found;
}

}  // namespace kiln
