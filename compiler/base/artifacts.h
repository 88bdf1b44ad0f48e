// SPDX-License-Identifier: Apache-2.0
// The files that a compilation makes, as named byte strings. Emitters fill them in memory; only the
// command line tool and mlf write them to disk.
#ifndef KILN_COMPILER_BASE_ARTIFACTS_H_
#define KILN_COMPILER_BASE_ARTIFACTS_H_

#include <map>
#include <string>

namespace kiln {

// File contents, keyed by relative path with '/' separators. The map is ordered, so that iteration
// is deterministic.
using Artifacts = std::map<std::string, std::string>;

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_ARTIFACTS_H_
