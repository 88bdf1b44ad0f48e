// SPDX-License-Identifier: Apache-2.0
// Stage: the computation of an operator, stated as a value at every index. Schedules
// (compiler/schedule) turn stages into loops.
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
// Operators build stages with StageBuilder (compiler/ops/stage_builder.h). A Kernel has the stages
// of one operator function. Every stage comes after the stages that it loads from.
#ifndef KILN_COMPILER_LOOP_STAGE_H_
#define KILN_COMPILER_LOOP_STAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// kMax and kMin of floats give NaN if a term is NaN. kMaxOfNumbers may ignore such terms, and takes
// a third of the instructions.
enum class Combine { kNone, kSum, kProd, kMax, kMin, kMaxOfNumbers };

struct Axis {
  Var var;  // runs from 0
  int64_t extent;
};

struct Stage {
  Buffer buffer;           // the stage defines all of its elements
  std::vector<Axis> axes;  // the index space
  // Place at which the value for a point of `axes` is stored: one index per dimension of the
  // buffer, a bijection from the space onto the buffer. Usually these are the axes themselves. A
  // grouped convolution has axes (…, group, channel) and stores at (…, group * channels + channel).
  std::vector<Expr> index;
  std::vector<Axis>
      // Axes of the reduction over which `value` is combined; empty: `value` is stored as it is.
      reduce;
  Combine combine = Combine::kNone;
  Expr init;  // constant from which the reduction starts, neutral for `combine`
  Expr value;
  // An update changes elements that earlier stages have stored. At each point of the space, in
  // row-major order, the value is stored at `index`, which may depend on data and refer to an
  // element more than once. `value` may use the previous element. An update has no reduction.
  bool update = false;
  // Condition that an update examines at each point, before it stores the value.
  struct Check {
    Expr fails;  // bool; if true, the update runs `fail before, number, after`
    std::string before;
    Expr number;
    std::string after;
  };
  std::optional<Check> check = {};
  // Makes the stage put places in order: the index in `axes` of the axis that counts ranks.
  // `reduce` is then one axis, at least as long, and `value` is an integer key of each of its
  // places, which does not depend on the rank. The value stored at rank j is, as int32, the place
  // with the j-th smallest key. Among places with the same key, the first has the lowest rank. Such
  // a stage has no combination and is not an update.
  std::optional<size_t> rank_axis = {};
};

// Returns the loop body that stores a stage's value, after its check.
Stmt StoreOf(const Stage& stage);
// Returns loops that follow the definition of a stage with ranks: each place is compared with all
// others and stored at its rank, the number of places before it. The work is quadratic; schedules
// do better.
Stmt PlainRankLoops(const Stage& stage);

// The larger and the smaller of two values, NaN if one of them is NaN. Min and Max (expr.h) keep a
// NaN of the first operand only, and take one instruction instead of three. If an operand is a
// literal number, Maximum and Minimum also take one.
Expr Maximum(Expr a, Expr b);
Expr Minimum(Expr a, Expr b);

// Combines two values: acc + term for kSum, Minimum(acc, term) for kMin, …
Expr CombineExprs(Combine combine, Expr acc, Expr term);

struct Kernel {
  std::string name;                 // name of the function
  std::vector<Buffer> inputs;       // scope kParam, or slices of such buffers
  std::vector<Buffer> outputs;      // like `inputs`; each is the buffer of one stage
  std::vector<Constant> constants;  // constants that stages load from
  std::vector<Stage> stages;
};

std::string ToString(const Stage& stage);
std::string ToString(const Kernel& kernel);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_STAGE_H_
