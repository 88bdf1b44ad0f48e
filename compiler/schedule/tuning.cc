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

bool TunedTarget::IsAlike(const TunedTarget& other) const {
  return triple == other.triple && cpu == other.cpu && features == other.features &&
         cores == other.cores;
}

const TunedTarget* Tuning::Find(const Target& target) const {
  const TunedTarget wanted = TunedTarget::For(target);
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const TunedTarget& tuned) { return tuned.IsAlike(wanted); });
  return found == targets.end() ? nullptr : &*found;
}

TunedTarget& Tuning::FindOrAdd(const Target& target) {
  const TunedTarget* found = Find(target);
  return found == nullptr ? targets.emplace_back(TunedTarget::For(target))
                          : targets[static_cast<size_t>(found - targets.data())];
}

}  // namespace kiln
