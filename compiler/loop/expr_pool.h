// SPDX-License-Identifier: Apache-2.0
// ExprPool: makes expressions of the same structure one node. Equality of pooled expressions is
// then a comparison of pointers, and a shared subexpression is processed once.
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
  // Returns the pool's node with the structure of `e`. Its operands are nodes of the pool too.
  Expr Intern(const Expr& e);

  // Numbers nodes from 0 in the order in which they were first interned. The order of nodes by
  // number is the same in every run.
  int Id(const Expr& e) const { return ids_.at(e.get()); }

 private:
  // Nodes that are not of the pool, which may be shared by many paths, and their interned nodes.
  using Seen = absl::flat_hash_map<const ExprNode*, Expr>;
  Expr Intern(const Expr& e, Seen& seen);

  // Hash and equality of nodes whose operands are nodes of the pool.
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
