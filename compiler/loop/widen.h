// SPDX-License-Identifier: Apache-2.0
// Widen: the core of VectorizeLoops. It makes vectors from the values of a statement for all values
// of a lane variable.
#ifndef KILN_COMPILER_LOOP_WIDEN_H_
#define KILN_COMPILER_LOOP_WIDEN_H_

#include <optional>

#include "compiler/loop/loop.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

// `s` is scalar and simplified by `simplifier`, in which `lane` has the range [0, lanes). Values
// that do not depend on `lane` stay scalar and are broadcast if they are combined with a vector.
// Buffers allocated in `s` get one element per lane. Returns nothing if `s` contains a call, a
// condition or loop range that differs by lane, or a store of all lanes to one place.
std::optional<Stmt> Widen(const Stmt& s, const Var& lane, int lanes, Simplifier& simplifier);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_WIDEN_H_
