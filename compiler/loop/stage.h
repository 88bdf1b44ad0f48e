// SPDX-License-Identifier: Apache-2.0
// Stage: what an operator computes, said as a value at every index; the schedules
// (compiler/schedule) make loops of it.
//
// A matrix product C[i, j] = sum over k of A[i, k] * B[k, j]:
//
//   Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k");
//   Stage c{.buffer = C,
//           .axes = {{i, m}, {j, n}},
//           .index = {i, j},
//           .reduce = {{k, depth}},
//           .combine = Combine::kSum,
//           .init = Const(f32, 0),
//           .value = MakeLoad(A, {i, k}) * MakeLoad(B, {k, j})};
//
// Operators write it through StageBuilder (compiler/ops/stage_builder.h). A Kernel is the stages of
// one operator function, in an order in which every stage comes after those that it loads from.
#ifndef KILN_COMPILER_LOOP_STAGE_H_
#define KILN_COMPILER_LOOP_STAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// kMax and kMin of floats give NaN where a term is NaN; kMaxOfNumbers may leave such terms out, at a
// third of the instructions.
enum class Combine { kNone, kSum, kProd, kMax, kMin, kMaxOfNumbers };

struct Axis {
  Var var;  // runs from 0
  int64_t extent;
};

struct Stage {
  Buffer buffer;           // what it defines, wholly
  std::vector<Axis> axes;  // the space
  // Where the value at `axes` is stored: one index per dimension of the buffer, a bijection from
  // the space onto the buffer. Usually the axes themselves; a grouped convolution has axes (…,
  // group, channel) and stores at (…, group * channels + channel).
  std::vector<Expr> index;
  std::vector<Axis>
      reduce;  // empty: `value` is the value. Otherwise it is the term to combine over these axes …
  Combine combine = Combine::kNone;
  Expr init;  // … starting from this constant, which changes nothing when combined
  Expr value;
  // An update of what the stages before have put into the buffer: for one point of the space after
  // the other, in row-major order, the value is stored at `index`, which may depend on data and
  // name an element more than once; the value may be made of the element that was there. Never
  // with a reduction.
  bool update = false;
  // Of an update: what is looked at at each point, before the value is stored.
  struct Check {
    Expr fails;  // bool; where it is true, `fail before, number, after`
    std::string before;
    Expr number;
    std::string after;
  };
  std::optional<Check> check = {};
  // The one of `axes` that counts ranks, in a stage that puts places in order. `reduce` is one axis
  // then, at least as long, and `value` an integer key of each of its places, which does not depend on
  // the rank. The value stored at rank j is, as int32, the place with the j-th smallest key; of places
  // with the same key the first has the lowest rank. Never with a combination or an update.
  std::optional<size_t> rank_axis = {};
};

// The loop body that stores a stage's value, behind its check.
Stmt StoreOf(const Stage& stage);
// The loops of a stage that puts places in order, by definition: each place is compared with all others
// and stored at its rank, the number of places before it. Quadratic; schedules do better.
Stmt PlainRankLoops(const Stage& stage);

// The larger and the smaller of two, NaN if one is NaN. Min and Max (expr.h) keep a NaN of the first
// operand alone, in one instruction instead of three; beside a literal, these are one too.
Expr Maximum(Expr a, Expr b);
Expr Minimum(Expr a, Expr b);

// combine(acc, term): acc + term, Minimum(acc, term), …
Expr CombineExprs(Combine combine, Expr acc, Expr term);

struct Kernel {
  std::string name;                 // of the function to be made
  std::vector<Buffer> inputs;       // scope kParam, or slices of such
  std::vector<Buffer> outputs;      // the same; each is the buffer of one stage
  std::vector<Constant> constants;  // that stages load from
  std::vector<Stage> stages;
};

std::string ToString(const Stage& stage);
std::string ToString(const Kernel& kernel);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_STAGE_H_
