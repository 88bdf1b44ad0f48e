// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_EQUALITY_RUNS_HERE_H_
#define KILN_TESTS_EQUALITY_RUNS_HERE_H_

#include "compiler/target/target.h"

namespace kiln::equality {

// Whether this machine runs code for a target that has a name (ListTargets), or that has the
// host's, perhaps with features (-mattr=+avx512vnni) in addition.
bool RunsHere(const Target& target);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RUNS_HERE_H_
