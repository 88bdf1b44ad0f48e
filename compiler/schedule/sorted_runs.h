// SPDX-License-Identifier: Apache-2.0
// SortedRuns: loops that sort pairs of a key and a place in scratch memory. Pairs with equal keys
// stay in order. The code is the same for any number of pairs, and no branch depends on the keys.
//
//   const SortedRuns runs(memory, part, target);
//   stmts.push_back(… runs.Put(i, key, place) …);  // for every i in 0 … count-1
//   stmts.push_back(runs.Sort());
//   … runs.PlaceOfRank(rank) …
#ifndef KILN_COMPILER_SCHEDULE_SORTED_RUNS_H_
#define KILN_COMPILER_SCHEDULE_SORTED_RUNS_H_

#include <cstdint>
#include <utility>

#include "compiler/schedule/nest.h"

namespace kiln::schedule {

class SortedRuns {
 public:
  // Number of pairs that are sorted, in whole blocks. A block is a power of two, unless it is the
  // only one.
  struct Extents {
    int64_t count, block;
    int levels() const;  // levels of merging
  };
  // Returns the extents for at least `count` pairs, with keys of dtype `key`.
  static Extents ExtentsFor(int64_t count, DType key, const Target& target);
  // Returns the rough cost of sorting, in additions.
  static int64_t CostOf(const Extents& extents, DType key, const Target& target);

  // Memory for two copies of all pairs, between which runs are moved back and forth. Each part that
  // runs at the same time has its own copies.
  struct Memory {
    Extents extents;
    Buffer keys, places;
    static int64_t Elements(const Extents& extents, int64_t parts) {
      return parts * 2 * extents.count;
    }
  };
  SortedRuns(Memory memory, Expr part, const Target& target)
      : memory_(std::move(memory)), part_(std::move(part)), target_(target) {}

  // Stores pair i before pairs are sorted. `place` is cast to the type of places.
  Stmt Put(const Expr& i, const Expr& key, const Expr& place) const;
  // Stores pairs from `begin` to the end, which sort after all others.
  Stmt PutLast(const Expr& begin) const;
  Stmt Sort() const;
  // Returns the place of the pair with that rank, after pairs have been sorted.
  Expr PlaceOfRank(const Expr& rank) const;

 private:
  Expr Index(const Expr& copy, const Expr& i) const;
  Expr Key(const Expr& copy, const Expr& i) const;
  Expr Place(const Expr& copy, const Expr& i) const;
  Stmt StoreKey(const Expr& copy, const Expr& i, const Expr& key) const;
  Stmt StorePlace(const Expr& copy, const Expr& i, const Expr& place) const;
  Stmt SortBlocks() const;
  Stmt Merge() const;
  Stmt MergePair(const Expr& to, const Expr& begin, const Expr& middle, const Expr& end) const;

  const Memory memory_;
  const Expr part_;
  const Target& target_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_SORTED_RUNS_H_
