// SPDX-License-Identifier: Apache-2.0
// Stages that sort places, row by row, in scratch memory. If few ranks are wanted, keys that cannot
// be among them are dropped first. Bisection finds a limit. Each of its steps counts the keys up to
// a middle, which vectors do best. If very few ranks are wanted, the smallest keys of groups of
// neighbors give a first limit, and most groups need not be inspected. The remaining keys are
// sorted.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/sorted_runs.h"

namespace kiln::schedule {
namespace {

// Properties that are the same for all rows.
struct RankPlan {
  int64_t places;  // number of places in a row
  int64_t ranks;   // number of wanted ranks
  SortedRuns::Extents sorted;
  bool selects;  // fewer keys are sorted than there are
  bool by_groups;

  int64_t group;  // keys in a group
  int64_t groups() const { return DivideUp(places, group); }
};

RankPlan RankPlanOf(const Stage& stage, const Target& target) {
  const int64_t places = stage.reduce[0].extent, ranks = stage.axes[*stage.rank_axis].extent;
  const DType key = stage.value.type().dtype;
  const RankNumbers& numbers = target.machine->ranks;
  // At least one whole block is sorted, so that no part of a block is left unused.
  const int64_t block = SortedRuns::ExtentsFor(places, key, target).block;
  const SortedRuns::Extents few =
      SortedRuns::ExtentsFor(std::max(ranks + ranks / numbers.spare_share, block), key, target);
  const bool selects = 2 * few.count <= places;
  const bool by_groups = selects && places / numbers.group >= numbers.groups_for_rank * ranks;
  return {places,  ranks,     selects ? few : SortedRuns::ExtentsFor(places, key, target),
          selects, by_groups, numbers.group};
}

int64_t CostOfRow(const RankPlan& plan, const Stage& stage, const Target& target) {
  const RankNumbers& numbers = target.machine->ranks;
  const DType key = stage.value.type().dtype;
  const int64_t selection =
      plan.selects ? plan.places * (numbers.bisection_cost / target.Lanes(key) + numbers.drop_cost)
                   : 0;
  return plan.places * Cost(stage.value, target) + selection +
         SortedRuns::CostOf(plan.sorted, key, target);
}

class RankedRows {
 public:
  RankedRows(const Stage& stage, Context& context)
      : stage_(stage),
        context_(context),
        plan_(RankPlanOf(stage, context.target)),
        key_(stage.value.type().dtype) {
    for (size_t i = 0; i < stage.axes.size(); ++i) {
      if (i != *stage.rank_axis) rows_.push_back(stage.axes[i]);
    }
  }

  // Returns the loops over rows, in parts that each have scratch memory of their own.
  Stmt Nest() {
    const Target& target = context_.target;
    const int64_t rows = TotalExtent(rows_);
    const bool threads = WorthThreads(rows * CostOfRow(plan_, stage_, target), target);
    const int64_t rows_of_part =
        DivideUp(rows, threads ? target.machine->ranks.parts_per_core * target.cores : 1);
    const int64_t parts = DivideUp(rows, rows_of_part);
    const DType place = plan_.places <= INT16_MAX ? DType::Int(16) : DType::Int(32);
    const int64_t pairs = SortedRuns::Memory::Elements(plan_.sorted, parts);
    const Axis part = {loop::MakeVar("part"), parts};
    const auto of_part = [&](absl::string_view suffix, int64_t count) {
      return Keys{Scratch(suffix, key_, parts * count), part.var * Expr(count), count};
    };
    if (plan_.selects) keys_ = of_part("keys", plan_.places);
    if (plan_.by_groups) minima_ = of_part("minima", plan_.groups());
    const SortedRuns::Memory memory = {plan_.sorted, Scratch("sorted_keys", key_, pairs),
                                       Scratch("sorted_places", place, pairs)};
    const SortedRuns runs(memory, part.var, target);
    const Expr begin = part.var * Expr(rows_of_part);
    const Stmt body = SerialLoop("row", begin, Min(Expr(rows_of_part), Expr(rows) - begin),
                                 [&](const Var& row) { return Row(RowAt(row), runs); });
    return schedule::Nest({part}, threads ? ForKind::kParallel : ForKind::kSerial, body);
  }

 private:
  // Contiguous keys: `count` keys from element `first` on.
  struct Keys {
    Buffer buffer;
    Expr first;
    int64_t count;

    Expr At(const Expr& i) const { return loop::MakeLoad(buffer, {first + i}); }
  };

  Buffer Scratch(absl::string_view suffix, DType dtype, int64_t elements) {
    context_.workspace.push_back(loop::MakeBuffer(absl::StrCat(stage_.buffer->name, "_", suffix),
                                                  dtype, {elements},
                                                  loop::BufferScope::kWorkspace));
    return context_.workspace.back();
  }

  Expr KeyConst(int64_t value) const { return loop::IntConst(loop::Type::Of(key_), value); }

  // Returns the values of the row axes at a row, which is given by its number.
  loop::Substitution RowAt(const Expr& row) const {
    loop::Substitution at;
    int64_t inside = TotalExtent(rows_);
    for (const Axis& axis : rows_) {
      const Expr outside = inside == TotalExtent(rows_) ? row : row % Expr(inside);
      inside /= axis.extent;
      at[axis.var.get()] = axis.extent == 1 ? Expr(0) : outside / Expr(inside);
    }
    return at;
  }

  Stmt Row(const loop::Substitution& at, const SortedRuns& runs) {
    const Axis &place = stage_.reduce[0], &rank = stage_.axes[*stage_.rank_axis];
    const Expr key = loop::Substitute(stage_.value, at);
    std::vector<Stmt> steps;
    if (plan_.selects) {
      steps = {StoreKeys(key), Select(runs)};
    } else {
      steps = {schedule::Nest({place}, ForKind::kSerial, runs.Put(place.var, key, place.var)),
               runs.PutLast(plan_.places)};
    }
    steps.push_back(runs.Sort());
    std::vector<Expr> index;
    for (const Expr& i : stage_.index) index.push_back(loop::Substitute(i, at));
    const Expr found = loop::MakeCast(DType::Int(32), runs.PlaceOfRank(rank.var));
    steps.push_back(
        schedule::Nest({rank}, ForKind::kSerial, loop::MakeStore(stage_.buffer, index, found)));
    return loop::MakeBlock(std::move(steps));
  }

  // Stores the keys as vectors, unless the loads would gather.
  Stmt StoreKeys(const Expr& key) const {
    const Axis& place = stage_.reduce[0];
    const AccessSet set = CollectAccesses(key, {place.var}, {});
    const bool gathers =
        !set.all_linear || std::any_of(set.linear.begin(), set.linear.end(), [](const auto& load) {
          return load.form.coefficients[0] != 0 && load.form.coefficients[0] != 1;
        });
    return loop::MakeFor(place.var, 0, place.extent,
                         gathers ? ForKind::kSerial : LaneLoop(place.extent, key_, context_.target),
                         loop::MakeStore(keys_.buffer, {keys_.first + place.var}, key));
  }

  // Returns buffer[index] = the combination of `term(key)` over `count` keys, from place `begin`
  // on.
  Stmt Combined(const Keys& keys, loop::Combine combine, int64_t init,
                const std::function<Expr(const Expr&)>& term, const Buffer& buffer,
                const Expr& index, const std::vector<Axis>& axes, const Expr& begin,
                int64_t count) {
    const Axis place = {loop::MakeVar("place"), count};
    const Stage stage = {.buffer = buffer,
                         .axes = axes,
                         .index = {index},
                         .reduce = {place},
                         .combine = combine,
                         .init = KeyConst(init),
                         .value = term(keys.At(begin + place.var))};
    return InnerStage(stage, context_);
  }
  Stmt Over(const Keys& keys, const Buffer& result, loop::Combine combine, int64_t init,
            const std::function<Expr(const Expr&)>& term) {
    return Combined(keys, combine, init, term, result, 0, {}, 0, keys.count);
  }
  Stmt Smallest(const Keys& keys, const Buffer& result) {
    return Over(keys, result, loop::Combine::kMin, key_.MaxInt(), Itself);
  }
  Stmt Largest(const Keys& keys, const Buffer& result) {
    return Over(keys, result, loop::Combine::kMax, key_.MinInt(), Itself);
  }
  static Expr Itself(const Expr& key) { return key; }

  // Stores the smallest key of each group. The last group may have fewer keys.
  Stmt StoreMinima() {
    const int64_t whole = plan_.places / plan_.group, rest = plan_.places % plan_.group;
    const Axis group = {loop::MakeVar("group"), whole};
    const auto minima = [&](const Expr& which, const std::vector<Axis>& axes, int64_t count) {
      return Combined(keys_, loop::Combine::kMin, key_.MaxInt(), Itself, minima_.buffer,
                      minima_.first + which, axes, which * Expr(plan_.group), count);
    };
    const Stmt of_whole = minima(group.var, {group}, plan_.group);
    return rest == 0 ? of_whole : loop::MakeBlock({of_whole, minima(whole, {}, rest)});
  }

  // Finds a limit, and puts the keys below it and as many keys equal to it as are still wanted.
  Stmt Select(const SortedRuns& runs) {
    const Buffer low = LocalNumber("low", key_), high = LocalNumber("high", key_),
                 equal = LocalNumber("equal", key_);
    const Stmt wanted = SetNumber(equal, KeyConst(plan_.ranks));
    std::vector<Stmt> steps;
    if (plan_.by_groups) {
      // After the first search, enough groups have a key that is not above `high`.
      const int64_t most = plan_.ranks + plan_.ranks / context_.target.machine->ranks.spare_share;
      steps = {StoreMinima(),
               Smallest(minima_, low),
               Largest(minima_, high),
               FindLimit(minima_, most, HalfOf(low, high), low, high, equal),
               Smallest(minima_, low),
               wanted,
               FindLimit(keys_, plan_.sorted.count, NumberIn(high), low, high, equal)};
    } else {
      steps = {Smallest(keys_, low), Largest(keys_, high), wanted,
               FindLimit(keys_, plan_.sorted.count, HalfOf(low, high), low, high, equal)};
    }
    steps.push_back(Take(high, equal, runs));
    Stmt select = loop::MakeBlock(std::move(steps));
    for (const Buffer& local : {low, high, equal}) select = loop::MakeAllocate(local, select);
    return select;
  }

  // Returns half of low + high, rounded down. The sum is not computed, because it may overflow.
  Expr HalfOf(const Buffer& low, const Buffer& high) const {
    const Expr l = NumberIn(low), h = NumberIn(high);
    return loop::MakeBinary(loop::BinaryOp::kAnd, l, h) +
           loop::MakeBinary(loop::BinaryOp::kShr, loop::MakeBinary(loop::BinaryOp::kXor, l, h),
                            KeyConst(1));
  }

  // Narrows `low` and `high` until they meet at the limit. The keys below `low` are `equal` fewer
  // than wanted, and enough keys are not above `high`. Ends early if at most `most` keys are not
  // above the middle. The first middle is `first`.
  Stmt FindLimit(const Keys& keys, int64_t most, const Expr& first, const Buffer& low,
                 const Buffer& high, const Buffer& equal) {
    const Buffer middle = LocalNumber("middle", key_), count = LocalNumber("count", key_);
    const Expr m = NumberIn(middle), c = NumberIn(count), wanted = KeyConst(plan_.ranks);
    const Stmt enough = loop::MakeBlock({SetNumber(low, m), SetNumber(equal, c)});
    const Stmt narrow = loop::MakeIf(
        c < wanted,
        loop::MakeBlock({SetNumber(low, m + KeyConst(1)), SetNumber(equal, wanted - c)}),
        loop::MakeBlock({SetNumber(high, m), loop::MakeIf(c <= KeyConst(most), enough, {})}));
    const auto is_below = [&](const Expr& key) { return loop::MakeCast(key_, key <= m); };
    const Stmt step = loop::MakeBlock({Over(keys, count, loop::Combine::kSum, 0, is_below), narrow,
                                       SetNumber(middle, HalfOf(low, high))});
    // One step for each bit of the keys, and one for `first`.
    const Stmt steps = SerialLoop("step", 0, key_.bits + 1, [&](const Var&) {
      return loop::MakeIf(NumberIn(low) < NumberIn(high), step, {});
    });
    return loop::MakeAllocate(
        middle, loop::MakeAllocate(count, loop::MakeBlock({SetNumber(middle, first), steps})));
  }

  Stmt Take(const Buffer& limit, const Buffer& equal, const SortedRuns& runs) const {
    const DType i32 = DType::Int(32);
    const Buffer taken = LocalNumber("taken", i32);
    const Expr next = loop::ToIndex(NumberIn(taken)), l = NumberIn(limit), e = NumberIn(equal);
    const auto take = [&](const Var& place) {
      const Expr key = keys_.At(place);
      const Stmt put = loop::MakeBlock({runs.Put(next, key, place),
                                        SetNumber(taken, NumberIn(taken) + loop::Const(i32, 1)),
                                        SetNumber(equal, e - loop::MakeCast(key_, key == l))});
      return loop::MakeIf(key <= l, loop::MakeIf(key < l || e > KeyConst(0), put, {}), {});
    };
    const Stmt all = !plan_.by_groups
                         ? SerialLoop("place", 0, plan_.places, take)
                         : SerialLoop("group", 0, plan_.groups(), [&](const Var& group) {
                             const Expr begin = group * Expr(plan_.group);
                             const Expr count = Min(Expr(plan_.group), Expr(plan_.places) - begin);
                             return loop::MakeIf(minima_.At(group) <= l,
                                                 SerialLoop("place", begin, count, take), {});
                           });
    return loop::MakeAllocate(
        taken, loop::MakeBlock({SetNumber(taken, loop::Const(i32, 0)), all, runs.PutLast(next)}));
  }

  const Stage& stage_;
  Context& context_;
  const RankPlan plan_;
  const DType key_;
  std::vector<Axis> rows_;  // all axes except that of the ranks
  Keys keys_;               // keys of a row, if keys are selected
  Keys minima_;             // minima of the groups of a row, if there are groups
};

}  // namespace

Stmt RankNest(const Stage& stage, Context& context) {
  if (stage.buffer->num_elements() == 0) return {};
  context.description = RankPlanOf(stage, context.target).selects ? "selection" : "sort";
  return RankedRows(stage, context).Nest();
}

}  // namespace kiln::schedule
