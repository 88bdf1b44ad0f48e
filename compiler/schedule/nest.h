// SPDX-License-Identifier: Apache-2.0
// Helpers of the schedule families: loop nests, flat indices, and properties of stages.
#ifndef KILN_COMPILER_SCHEDULE_NEST_H_
#define KILN_COMPILER_SCHEDULE_NEST_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/align.h"
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

// Returns `body` inside loops over `axes`, the first outermost. An axis of extent 1 becomes the
// constant 0 in `body`.
Stmt Nest(const std::vector<Axis>& axes, ForKind kind, Stmt body);

// Returns a serial loop with a variable called `name`.
Stmt SerialLoop(const char* name, const Expr& begin, const Expr& extent,
                const std::function<Stmt(const Var&)>& body);

// A local buffer of one element, its value, and the statement that sets the value.
Buffer LocalNumber(const char* name, DType dtype);
Expr NumberIn(const Buffer& local);
Stmt SetNumber(const Buffer& local, const Expr& value);

// Returns the kind of a loop over the lanes of a tile of `dtype`. The loop is vectorized or, if the
// machine has no vectors of the dtype and the loop is short, unrolled, so that its values stay in
// registers.
ForKind LaneLoop(int64_t extent, DType dtype, const Target& target);

// The same axis, or axes, with a variable of its own.
Axis FreshAxis(const Axis& axis);
std::vector<Axis> FreshAxes(const std::vector<Axis>& axes);

// A part of an extent, divided into pieces of one size. Piece `which` begins at `begin`.
struct Strip {
  Axis which;
  Expr begin;
  int64_t size;
};
// Returns the whole pieces of an extent, and the smaller rest if there is one. `name` is that of
// the variables.
std::vector<Strip> Strips(int64_t extent, int64_t size, absl::string_view name);

// Adds the bounds of axes: [0, extent - 1].
void AddBounds(const std::vector<Axis>& axes, loop::Bounds& bounds);
std::vector<Var> VarsOfAxes(const std::vector<Axis>& axes);
int64_t TotalExtent(const std::vector<Axis>& axes);

// Returns index · strides of the buffer, simplified. A slice is indexed from its first element.
Expr FlatIndex(const Buffer& buffer, const std::vector<Expr>& index, const loop::Bounds& bounds);

// An access whose flat index is linear in given variables.
struct LinearAccess {
  const loop::ExprNode* load = nullptr;  // null for the store
  Buffer buffer;
  loop::LinearForm form;  // coefficients in the order of the given variables
};

// Loads of an expression. `linear` has those whose flat index is linear in `vars`; `all_linear` is
// false if there are others.
struct AccessSet {
  std::vector<LinearAccess> linear;
  bool all_linear = true;
  // used_elsewhere[i] is true if vars[i] occurs outside of a linear index. Its axis cannot be
  // merged with a neighbor.
  std::vector<bool> used_elsewhere;
};
AccessSet CollectAccesses(const Expr& value, const std::vector<Var>& vars,
                          const loop::Bounds& bounds);

// Returns `e` with each load of `buffer` replaced by f(index of the load).
Expr ReplaceLoads(const Expr& e, const Buffer& buffer,
                  const std::function<Expr(const std::vector<Expr>&)>& f);

// True if the stage stores at its axes, one dimension for each, in their order.
bool IsIdentity(const Stage& stage);
// True if the stage's value loads from `buffer`.
bool Reads(const Stage& stage, const Buffer& buffer);
// Returns `value` with each load of the producer's buffer replaced by the producer's value. The
// producer is pointwise and an identity.
Expr InlineInto(const Expr& value, const Stage& producer);

// Returns the rough cost of evaluating an expression once, in additions. A load counts as 1.
int64_t Cost(const Expr& e, const Target& target);
// Returns the cost of a whole stage.
int64_t Cost(const Stage& stage, const Target& target);
// True if a nest of that cost is worth dividing among threads.
bool WorthThreads(int64_t cost, const Target& target);

// Loops, their values and their stores, which are rewritten together.
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

// Merges neighboring axes that every access walks as one axis, and flattens the stores and all
// linear loads. Keeps the order of axes. Space and reduction axes are not merged with each other.
// Axes of extent 1 vanish. Leaves `body` as it is if a store is not linear.
void MergeAxes(LoopBody& body);
// The same for one stage.
Stage MergeAxes(const Stage& stage);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_NEST_H_
