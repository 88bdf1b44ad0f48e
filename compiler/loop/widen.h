// SPDX-License-Identifier: Apache-2.0
// Widen: the statement for all values of a lane variable at once, as vectors. The core of
// VectorizeLoops.
#ifndef KILN_COMPILER_LOOP_WIDEN_H_
#define KILN_COMPILER_LOOP_WIDEN_H_

#include <optional>

#include "compiler/loop/loop.h"
#include "compiler/loop/simplifier.h"

namespace kiln::loop {

// `s` is scalar and simplified by `simplifier`, where `lane` has the range [0, lanes). What does
// not depend on `lane` stays scalar and is broadcast where it meets a vector; buffers allocated in
// `s` get one element per lane. Nothing, if `s` contains a call, a condition or loop range that
// differs by lane, or a store of all lanes to one place.
std::optional<Stmt> Widen(const Stmt& s, const Var& lane, int lanes, Simplifier& simplifier);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_WIDEN_H_
