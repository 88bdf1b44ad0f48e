// SPDX-License-Identifier: Apache-2.0
// The passes over loop programs. Each is a function from a statement or program to another with the
// same meaning.
//
// The table in pipeline.cc is their order, and pipeline.h runs them.
#ifndef KILN_COMPILER_LOOP_PASSES_H_
#define KILN_COMPILER_LOOP_PASSES_H_

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/range.h"

namespace kiln::loop {

// Known bounds of variables, inclusive.
struct Interval {
  int64_t min;
  int64_t max;
};
using Bounds = std::unordered_map<const ExprNode*, Interval>;

// Simplifies with the known ranges of loop variables: linear forms are collected and ordered,
// division and remainder by constants, comparisons, min, max and select are decided where ranges
// decide them. Exact for every dtype: floats are touched only by identities that keep all bits.
Expr Simplify(const Expr& e, const Bounds& bounds = {});
Stmt Simplify(const Stmt& s, const Bounds& bounds = {});

// The range of an index expression; false where it is not bounded. Conservative.
bool BoundsOf(const Expr& e, const Bounds& bounds, Interval* out);

// The range of an integer expression whose loads have the ranges that `of_buffer` gives; of its type
// where nothing better is known. Conservative.
Range RangeOf(const Expr& e, const std::function<Range(const Buffer&)>& of_buffer);

// e == base + sum of coefficient[i] * vars[i] with constant coefficients and `base` free of the
// vars; false where e is not of that form.
struct LinearForm {
  Expr base;
  std::vector<int64_t> coefficients;
};
bool AsLinear(const Expr& e, const std::vector<Var>& vars, LinearForm* out);

// Replaces every multi-dimensional index by one index in elements, and slices by their wholes.
Stmt FlattenBuffers(const Stmt& s);

// Expands unrolled loops.
Stmt UnrollLoops(const Stmt& s);

// Writes out every dot of a single sum that `keeps` refuses as a sum of products: what a code
// generator without an instruction for it wants. What is left of vectors in the statement stands in
// the dots that were kept.
Stmt ExpandDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps);

// Makes every vectorized loop that stores the sums of dots to where it loads them one store of a
// vector (dot_tile.h), if `keeps` accepts the dot; other vectorized loops stay as they are. For a
// code generator whose only vectors are those of instructions. Needs flat indices.
Stmt VectorizeDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps);

// Writes out every store of a vector as stores of its lanes, but for those of dots and those that
// `keeps` accepts.
Stmt ExpandVectors(const Stmt& s, const std::function<bool(const Store&)>& keeps);

// Expands vectorized loops into vector expressions of `vector_bits`, counted in the widest type
// that differs by iteration (indices do not count), and the remainder in powers of two. What is the
// same in all lanes stays scalar. A loop that it cannot express (it contains a call, a condition or
// range that differs by lane, or stores every iteration to one place) becomes serial, and so does
// all of a nest but its innermost vectorized loop. So do the iterations whose vectors would be stored
// in a way that `keeps` refuses, where it is given. Needs flat indices.
Stmt VectorizeLoops(const Stmt& s, int vector_bits,
                    const std::function<bool(const Store&)>& keeps = nullptr);

// Moves the outermost parallel loop of every nest into a task function `<function>_task<k>` and
// puts a Launch in its place; `threads` 1 makes the loops serial instead. Task t of n runs the
// iterations [extent * t / n, extent * (t + 1) / n). The task's parameters are the buffers that the
// loop uses, those that it only reads first; its `scalars` beyond the first two are the variables
// of outer loops, which the Launch passes as arguments without buffer, after the buffers.
void OutlineParallel(LoopProgram& program, int threads);

// Operators with loops that are alike but for their constants get one function
// `<first of them>_shared`, which takes the constants as inputs; what is left of each is a call.
// With `numbers`, so do those whose values are made of other integers (multipliers, zero points):
// those that differ are scalars of the function. With `parts`, so do those that access other parts of
// tensors alike: the function takes these parts. With `extents`, so do those of other extents and
// strides, which are scalars too; tiles of dots in them are loops (RollDotTiles).
void ShareFunctions(LoopProgram& program, bool numbers = false, bool parts = false,
                    bool extents = false);

// Calls of functions that only call another one become calls of that one, and those of them that
// are not exported are gone.
void InlineCalls(LoopProgram& program);

// Cuts a function that consists of more than `max_calls` calls into functions `<function>_part<k>`
// of so many calls and different arguments at most, which it calls in turn, and returns them: what
// code generators do to a function grows faster than it. The callees are in `program`. A function
// that is anything else stays as it is.
std::vector<Func> SplitCalls(const LoopProgram& program, size_t max_calls, Func& func);

// Internal, with the first broken rule: types agree, buffers are in scope, indices in bounds where
// ranges are known, callees exist with as many parameters as arguments.
absl::Status VerifyProgram(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PASSES_H_
