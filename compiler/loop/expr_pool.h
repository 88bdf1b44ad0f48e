// SPDX-License-Identifier: Apache-2.0
// ExprPool: one node per structure. Equal expressions taken through a pool are the same node, so
// equality is a comparison of pointers and a shared subexpression is worked on once.
//
//   ExprPool pool;
//   pool.Intern(i + 1).get() == pool.Intern(i + 1).get();
#ifndef KILN_COMPILER_LOOP_EXPR_POOL_H_
#define KILN_COMPILER_LOOP_EXPR_POOL_H_

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

class ExprPool {
 public:
  // The pool's node of this structure. Nodes below that are not of the pool are replaced by the
  // pool's.
  Expr Intern(const Expr& e);

  // Numbers from 0 in the order of first interning: an order of nodes that is the same in every
  // run.
  int Id(const Expr& e) const { return ids_.at(e.get()); }

 private:
  // Nodes from elsewhere, which may be shared by many paths, and the pool's of their structure.
  using Seen = absl::flat_hash_map<const ExprNode*, Expr>;
  Expr Intern(const Expr& e, Seen& seen);

  // Hash and equality of a node whose operands are nodes of the pool.
  struct Hash {
    size_t operator()(const Expr& e) const;
  };
  struct Equal {
    bool operator()(const Expr& a, const Expr& b) const;
  };

  absl::flat_hash_set<Expr, Hash, Equal> nodes_;
  absl::flat_hash_map<const ExprNode*, int> ids_;
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_EXPR_POOL_H_
