// SPDX-License-Identifier: Apache-2.0
// What the schedule families share: nests of loops, flat indices, and what they read off a stage.
#ifndef KILN_COMPILER_SCHEDULE_NEST_H_
#define KILN_COMPILER_SCHEDULE_NEST_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/stage.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

using loop::Axis;
using loop::Buffer;
using loop::Expr;
using loop::ForKind;
using loop::Stage;
using loop::Stmt;
using loop::Var;

// `body` inside loops over `axes`, the first outermost. An axis of extent 1 becomes the constant 0
// in `body`.
Stmt Nest(const std::vector<Axis>& axes, ForKind kind, Stmt body);

// A serial loop with a variable of that name.
Stmt SerialLoop(const char* name, const Expr& begin, const Expr& extent,
                const std::function<Stmt(const Var&)>& body);

// A local buffer of one element, its value, and the statement that sets it.
Buffer LocalNumber(const char* name, DType dtype);
Expr NumberIn(const Buffer& local);
Stmt SetNumber(const Buffer& local, const Expr& value);

// Elements that code without vectors works on at once, written out.
inline constexpr int64_t kMaxWrittenOut = 4;

// The kind of a loop over the lanes of a tile of `dtype`: a vector, or, on a machine without vectors
// of it, written out if it is short, so that what it works on stays in registers.
ForKind LaneLoop(int64_t extent, DType dtype, const Target& target);

inline int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The same axis, or axes, with a variable of its own.
Axis FreshAxis(const Axis& axis);
std::vector<Axis> FreshAxes(const std::vector<Axis>& axes);

// A part of an extent in pieces of one size: piece `which` begins at `begin`.
struct Strip {
  Axis which;
  Expr begin;
  int64_t size;
};
// The whole pieces, and what is left behind them; `name` is that of the variables.
std::vector<Strip> Strips(int64_t extent, int64_t size, absl::string_view name);

// The bounds of axes: [0, extent - 1].
void AddBounds(const std::vector<Axis>& axes, loop::Bounds& bounds);
std::vector<Var> VarsOfAxes(const std::vector<Axis>& axes);
int64_t TotalExtent(const std::vector<Axis>& axes);

// index · strides of the buffer, simplified; of a slice from its first element on.
Expr FlatIndex(const Buffer& buffer, const std::vector<Expr>& index, const loop::Bounds& bounds);

// An access whose flat index is linear in some variables.
struct LinearAccess {
  const loop::ExprNode* load = nullptr;  // null for the store
  Buffer buffer;
  loop::LinearForm form;  // coefficients in the order of the variables asked for
};

// The loads of `value`, each flat; `linear` is false for those whose index is not linear in `vars`.
struct AccessSet {
  std::vector<LinearAccess> linear;
  bool all_linear = true;
  // Variables (by position in `vars`) that occur outside of a linear index: they cannot be merged
  // with a neighbour.
  std::vector<bool> used_elsewhere;
};
AccessSet CollectAccesses(const Expr& value, const std::vector<Var>& vars,
                          const loop::Bounds& bounds);

// Replaces the loads of `buffer` in `e` by what `f` makes of their index.
Expr ReplaceLoads(const Expr& e, const Buffer& buffer,
                  const std::function<Expr(const std::vector<Expr>&)>& f);

// Whether the stage stores by its axes, one dimension each, in their order.
bool IsIdentity(const Stage& stage);
// Whether the stage's value loads from `buffer`.
bool Reads(const Stage& stage, const Buffer& buffer);
// `value` with the producer's value in the place of loads of its buffer. The producer is pointwise
// and an identity.
Expr InlineInto(const Expr& value, const Stage& producer);

// Rough cost of evaluating an expression once, in additions; loads count 1.
int64_t Cost(const Expr& e);
// Cost of a whole stage.
int64_t Cost(const Stage& stage);
// Whether a nest of that cost is worth handing to the thread pool.
bool WorthThreads(int64_t cost, const Target& target);

// Loops and what they do, to be rewritten together.
struct LoopBody {
  struct Place {
    Buffer buffer;
    std::vector<Expr> index;
  };
  std::vector<Axis> axes;
  std::vector<Axis> reduce;
  std::vector<Expr> values;
  std::vector<Place> stores;
};

// Merges neighbouring axes that every access walks as one, and makes all linear loads and the
// stores flat. Keeps the order; space and reduction axes stay apart; axes of extent 1 vanish.
// Leaves `body` as it is if a store is not linear.
void MergeAxes(LoopBody& body);
// The same for one stage.
Stage MergeAxes(const Stage& stage);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_NEST_H_
