// SPDX-License-Identifier: Apache-2.0
// What a compilation makes: named byte strings. Emitters fill it in memory; only the command line
// tool and mlf write it to disk.
#ifndef KILN_COMPILER_BASE_ARTIFACTS_H_
#define KILN_COMPILER_BASE_ARTIFACTS_H_

#include <map>
#include <string>

namespace kiln {

// Path (relative, '/' separated) to bytes; ordered, so that every walk over it is deterministic.
using Artifacts = std::map<std::string, std::string>;

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_ARTIFACTS_H_
