// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/sorted_runs.h"

#include <algorithm>
#include <bit>

#include "compiler/base/align.h"
#include "compiler/schedule/accumulate.h"

namespace kiln::schedule {
namespace {

Expr Shifted(loop::BinaryOp op, const Expr& a, const Expr& bits) {
  return loop::MakeBinary(op, a, bits);
}

}  // namespace

int SortedRuns::Extents::levels() const {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(count / block - 1)));
}

SortedRuns::Extents SortedRuns::ExtentsFor(int64_t count, DType key, const Target& target) {
  int64_t block = std::clamp<int64_t>(2 * target.Lanes(key), target.machine->ranks.min_block,
                                      target.machine->ranks.max_block);
  block = std::min(block, count);
  return {AlignUp(count, block), block};
}

int64_t SortedRuns::CostOf(const Extents& extents, DType key, const Target& target) {
  return extents.count *
         (extents.block / target.Lanes(key) + target.machine->ranks.merge_cost * extents.levels());
}

Expr SortedRuns::Index(const Expr& copy, const Expr& i) const {
  return (part_ * Expr(2) + copy) * Expr(memory_.extents.count) + i;
}
Expr SortedRuns::Key(const Expr& copy, const Expr& i) const {
  return loop::MakeLoad(memory_.keys, {Index(copy, i)});
}
Expr SortedRuns::Place(const Expr& copy, const Expr& i) const {
  return loop::MakeLoad(memory_.places, {Index(copy, i)});
}
Stmt SortedRuns::StoreKey(const Expr& copy, const Expr& i, const Expr& key) const {
  return loop::MakeStore(memory_.keys, {Index(copy, i)}, key);
}
Stmt SortedRuns::StorePlace(const Expr& copy, const Expr& i, const Expr& place) const {
  return loop::MakeStore(memory_.places, {Index(copy, i)}, place);
}

Stmt SortedRuns::Put(const Expr& i, const Expr& key, const Expr& place) const {
  return loop::MakeBlock(
      {StoreKey(0, i, key), StorePlace(0, i, loop::MakeCast(memory_.places->dtype, place))});
}

Stmt SortedRuns::PutLast(const Expr& begin) const {
  const DType key = memory_.keys->dtype;
  return SerialLoop("last", begin, Expr(memory_.extents.count) - begin, [&](const Var& i) {
    return Put(i, loop::IntConst(loop::Type::Of(key), key.MaxInt()), 0);
  });
}

Stmt SortedRuns::Sort() const {
  return memory_.extents.levels() == 0 ? SortBlocks() : loop::MakeBlock({SortBlocks(), Merge()});
}

Expr SortedRuns::PlaceOfRank(const Expr& rank) const {
  return Place(memory_.extents.levels() % 2 == 0 ? 1 : 0, rank);
}

// Sorts each block separately, into the other copy. The new position of a pair is the number of
// pairs of its block that come before it.
Stmt SortedRuns::SortBlocks() const {
  const auto& [count, block] = memory_.extents;
  const DType dtype = memory_.keys->dtype;
  const Buffer before = loop::MakeBuffer("before", dtype, {block}, loop::BufferScope::kLocal);
  const ForKind kind = LaneLoop(block, dtype, target_);
  return SerialLoop("block", 0, count / block, [&](const Var& which) {
    const Expr begin = which * Expr(block);
    const Stmt compare = SerialLoop("other", 0, block, [&](const Var& other) {
      const Expr other_key = Key(0, begin + other);
      return Accumulate(before, block, kind, loop::Combine::kSum, target_, [&](const Expr& lane) {
        const Expr key = Key(0, begin + lane);
        const Expr is_first = loop::MakeCast(dtype, other) < loop::MakeCast(dtype, lane);
        return loop::MakeCast(dtype, other_key < key || (other_key == key && is_first));
      });
    });
    const Stmt move = SerialLoop("i", 0, block, [&](const Var& i) {
      const Expr to = begin + loop::ToIndex(loop::MakeLoad(before, {i}));
      const Stmt place = StorePlace(1, to, Place(0, begin + i));
      if (memory_.extents.levels() == 0) return place;
      return loop::MakeBlock({place, StoreKey(1, to, Key(0, begin + i))});
    });
    const Stmt fill = Fill(before, block, kind, loop::IntConst(loop::Type::Of(dtype), 0));
    return loop::MakeAllocate(before, loop::MakeBlock({fill, compare, move}));
  });
}

// On each level, pairs of runs become one run of twice the length, in the other copy.
Stmt SortedRuns::Merge() const {
  const auto& [count, block] = memory_.extents;
  const int pair_bits = std::countr_zero(static_cast<uint64_t>(2 * block));
  return SerialLoop("level", 0, memory_.extents.levels(), [&](const Var& level) {
    const Expr bits = level + Expr(pair_bits), most = count;
    const Expr pairs = Shifted(loop::BinaryOp::kShr, Expr(count - 1), bits) + Expr(1);
    return SerialLoop("pair", 0, pairs, [&](const Var& pair) {
      const Expr begin = Shifted(loop::BinaryOp::kShl, pair, bits);
      const Expr run = Shifted(loop::BinaryOp::kShl, Expr(block), level);
      return MergePair(level % Expr(2), begin, Min(begin + run, most),
                       Min(begin + run + run, most));
    });
  });
}

// Merges the runs [begin, middle) and [middle, end) of the other copy into copy `to`, from the
// front and from the back at once. These are two chains of loads that do not wait for each other.
// They meet in the middle, because runs consist of whole blocks, whose sizes are even.
Stmt SortedRuns::MergePair(const Expr& to, const Expr& begin, const Expr& middle,
                           const Expr& end) const {
  const DType index = DType::Int(target_.pointer_bits);
  // `next` and `last` are the first and the last remaining pair of the first run. `front` and
  // `back` are 1 if the first run gives the next pair at the front, or at the back, and otherwise
  // 0.
  const Buffer next = LocalNumber("next", index), last = LocalNumber("last", index),
               front = LocalNumber("front", index), back = LocalNumber("back", index);
  const Expr from = Expr(1) - to, zero = loop::IntConst(loop::Type::Of(index), 0);
  const auto store = [&](const Expr& i, const Buffer& gives, const Expr& first,
                         const Expr& second) {
    const Expr is_first = NumberIn(gives) != zero;
    return loop::MakeBlock(
        {StoreKey(to, i, loop::MakeSelect(is_first, Key(from, first), Key(from, second))),
         StorePlace(to, i, Place(from, loop::MakeSelect(is_first, first, second)))});
  };
  const Stmt merge = SerialLoop("i", 0, (end - begin) / Expr(2), [&](const Var& i) {
    // If a run is used up, its index is one past its end. The pair that is loaded there is not
    // used.
    const Expr first = loop::ToIndex(NumberIn(next)), second = middle + begin + i - first;
    const Expr first_in = Min(first, end - Expr(1)), second_in = Min(second, end - Expr(1));
    const Expr at_front =
        first < middle && (second >= end || Key(from, first_in) <= Key(from, second_in));
    const Expr first_last = loop::ToIndex(NumberIn(last));
    const Expr second_last = middle + end - Expr(2) - i - first_last;
    const Expr first_last_in = Max(first_last, begin);
    const Expr at_back = second_last < middle ||
                         (first_last >= begin && Key(from, second_last) < Key(from, first_last_in));
    return loop::MakeBlock({SetNumber(front, loop::MakeCast(index, at_front)),
                            SetNumber(back, loop::MakeCast(index, at_back)),
                            store(begin + i, front, first_in, second_in),
                            store(end - Expr(1) - i, back, first_last_in, second_last),
                            SetNumber(next, NumberIn(next) + NumberIn(front)),
                            SetNumber(last, NumberIn(last) - NumberIn(back))});
  });
  Stmt body = loop::MakeBlock({SetNumber(next, loop::MakeCast(index, begin)),
                               SetNumber(last, loop::MakeCast(index, middle - Expr(1))), merge});
  for (const Buffer& local : {next, last, front, back}) body = loop::MakeAllocate(local, body);
  return body;
}

}  // namespace kiln::schedule
