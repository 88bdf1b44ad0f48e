// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_RUNS_HERE_H_
#define KILN_TESTS_EQUALITY_RUNS_HERE_H_

#include "compiler/target/target.h"

namespace kiln::equality {

// True if this machine can run code for the target. The target must have a name of ListTargets or
// the host's, optionally with further features (-mattr=+avx512vnni).
bool RunsHere(const Target& target);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RUNS_HERE_H_
