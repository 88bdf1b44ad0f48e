// SPDX-License-Identifier: Apache-2.0
// The passes over loop programs. Each is a function from a statement or program to another with the
// same meaning. The table in pipeline.cc defines their order, and pipeline.h runs them.
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

// Simplifies an expression or statement with the known ranges of variables. Linear forms are
// collected and ordered. Divisions and remainders by constants, comparisons, min, max and select
// are replaced if ranges decide them. The result is exact for every dtype: floats are only changed
// by identities that keep all bits.
Expr Simplify(const Expr& e, const Bounds& bounds = {});
Stmt Simplify(const Stmt& s, const Bounds& bounds = {});

// Gets the range of an index expression. Returns false if it is not bounded. Conservative.
bool BoundsOf(const Expr& e, const Bounds& bounds, Interval* out);

// Returns the range of an integer expression. `of_buffer` gives the ranges of loads. Returns the
// range of its type if nothing better is known. Conservative.
Range RangeOf(const Expr& e, const std::function<Range(const Buffer&)>& of_buffer);

// The form e == base + sum of coefficients[i] * vars[i] with constant coefficients and a `base`
// without the vars. AsLinear returns false if e does not have this form.
struct LinearForm {
  Expr base;
  std::vector<int64_t> coefficients;
};
bool AsLinear(const Expr& e, const std::vector<Var>& vars, LinearForm* out);

// Replaces every multi-dimensional index by one index in elements, and slices by their wholes.
Stmt FlattenBuffers(const Stmt& s);

// Expands unrolled loops.
Stmt UnrollLoops(const Stmt& s);

// Writes out dots with a single sum as sums of products, unless `keeps` accepts them. This serves
// code generators without an instruction for the dot. After that, vectors only remain in dots that
// were kept.
Stmt ExpandDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps);

// Replaces a vectorized loop by one store of a vector (dot_tile.h) if it stores the sums of dots to
// where it loads them and `keeps` accepts the dot. Other vectorized loops stay as they are. This
// serves code generators whose only vectors are those of instructions. Needs flat indices.
Stmt VectorizeDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps);

// Writes out stores of vectors as stores of their lanes, except stores of dots and stores that
// `keeps` accepts.
Stmt ExpandVectors(const Stmt& s, const std::function<bool(const Store&)>& keeps);

// Expands vectorized loops into vector expressions of `vector_bits`, counted in the widest type
// that differs by iteration (indices do not count), and the remainder in powers of two. Values that
// are the same in all lanes stay scalar. A loop becomes serial if it contains a call, a condition
// or range that differs by lane, or a store of all iterations to one place. In a nest of vectorized
// loops, all but the innermost become serial. If `keeps` is given, iterations become serial if it
// refuses a store of their vectors. Needs flat indices.
Stmt VectorizeLoops(const Stmt& s, int vector_bits,
                    const std::function<bool(const Store&)>& keeps = nullptr);

// Moves the outermost parallel loop of every nest into a task function `<function>_task<k>` and
// replaces it by a Launch. If `threads` is 1, the loops become serial instead. Task t of n runs the
// iterations [extent * t / n, extent * (t + 1) / n). The task's parameters are the buffers that the
// loop uses, beginning with the buffers that it only reads. Its `scalars` after the first two are
// the variables of outer loops. The Launch passes them as arguments without buffer, after the
// buffers.
void OutlineParallel(LoopProgram& program, int threads);

// Lets operators with loops share one function if they differ only in their constants. The function
// `<first operator>_shared` takes the constants as inputs. The body of each operator becomes a call
// of it. With `numbers`, operators may also differ in the integers and floats of their values
// (multipliers, zero points); the differing numbers are scalars of the function. With `parts`, they
// may also access different parts of tensors in the same way; the function takes these parts. With
// `extents`, they may also differ in extents and strides, which become scalars; tiles of dots
// become loops (RollDotTiles).
void ShareFunctions(LoopProgram& program, bool numbers = false, bool parts = false,
                    bool extents = false);

// Replaces calls of functions that only call another one by calls of that one. Removes the former
// functions unless they are exported.
void InlineCalls(LoopProgram& program);

// Splits a function that consists of more than `max_calls` calls into functions
// `<function>_part<k>`. Each has at most `max_calls` calls and different arguments, and `func`
// calls them in turn. Returns the new functions. This limits the time of code generators, which
// grows faster than the length of a function. `program` contains the callees. Any other function
// stays as it is.
std::vector<Func> SplitCalls(const LoopProgram& program, size_t max_calls, Func& func);

// Returns Internal with the first broken rule. The rules: types agree, buffers are in scope,
// indices are in bounds if their ranges are known, and callees exist and have as many parameters as
// arguments.
absl::Status VerifyProgram(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PASSES_H_
