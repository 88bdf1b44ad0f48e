// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/runs_here.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kiln::equality {

bool RunsHere(const Target& target) {
  const Target host = Target::Host();
  if (target.triple != host.triple || (target.has_byte_dot && !host.has_byte_dot)) return false;
  // The levels of x86-64 are in order, lowest first; other machines have one.
  const std::vector<std::string> names = ListTargets();
  const auto level = [&](const Target& t) { return std::find(names.begin(), names.end(), t.cpu); };
  return level(target) <= level(host);
}

}  // namespace kiln::equality
