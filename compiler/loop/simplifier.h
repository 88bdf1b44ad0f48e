// SPDX-License-Identifier: Apache-2.0
// Simplifier: implements Simplify (passes.h) and serves passes that need its results. It has the
// ranges of the variables that are bound. It keeps its results in a pool, so that equal expressions
// become one node.
//
//   Simplifier simplifier(bounds);
//   simplifier.Bind(i, {0, 55});
//   Expr e = simplifier.Simplify(index);
//   Range range = simplifier.RangeOf(e);
//   simplifier.Unbind(i);
//
// Normal form of a scalar index: a sum of atom * coefficient, with atoms of outer loops first and
// the constant last. Neighboring accesses then differ only in the constant. A comparison of indices
// has the sum on its left and a constant on its right, and is < or >=, == or !=.
#ifndef KILN_COMPILER_LOOP_SIMPLIFIER_H_
#define KILN_COMPILER_LOOP_SIMPLIFIER_H_

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "compiler/loop/expr_pool.h"
#include "compiler/loop/linear_sum.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/range.h"

namespace kiln::loop {

class Simplifier {
 public:
  explicit Simplifier(const Bounds& bounds = {});
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  // Bind and Unbind enter and leave the scope of a variable. Scopes nest, and a later binding of
  // the same variable hides the earlier one.
  void Bind(const Var& var, Range range);
  // Replaces the variable by `value`, which is simplified already.
  void BindValue(const Var& var, Expr value);
  // Restricts an expression to `range`, as a condition around a statement does. The expression is
  // an atom (a variable or any other) or a sum of atoms without a constant. Unbind ends the
  // restriction.
  void Narrow(const Expr& atom, Range range);
  void Unbind(const Expr& atom);

  Expr Simplify(const Expr& e);
  Stmt Simplify(const Stmt& s);

  // Range of any integer or bool expression. Conservative.
  Range RangeOf(const Expr& e);
  // Normal form of a scalar index. Its atoms are simplified.
  const LinearSum& LinearOf(const Expr& e);
  Expr FromLinear(const LinearSum& sum);
  Range RangeOf(const LinearSum& sum);
  // Range of a loop's variable. `begin` and `extent` are simplified.
  Range RangeOfLoop(const Expr& begin, const Expr& extent);
  // Binds the variable of a loop to its range.
  void BindLoop(const For& loop);

 private:
  struct Binding {
    Range range = {};
    int depth = 0;
    Expr value = {};
  };

  // simplify.cc
  Expr Visit(const Expr& e);
  Expr Rewrite(const Expr& e);
  Expr KnownValue(const Expr& e);
  Expr RewriteUnary(const Type& type, UnaryOp op, const Expr& a);
  Expr RewriteBinary(const Type& type, BinaryOp op, const Expr& a, const Expr& b);
  Expr RewriteCompare(const Type& type, CompareOp op, const Expr& a, const Expr& b);
  Expr RewriteCast(const Type& type, const Expr& a);
  Expr RewriteLogical(BinaryOp op, const Expr& a, const Expr& b);
  Expr RewriteVectorIndex(BinaryOp op, const Expr& a, const Expr& b);
  Expr RewriteSelect(const Expr& condition, const Expr& if_true, const Expr& if_false);
  Expr Raw(const Type& type, decltype(ExprNode::value) value);
  Expr Constant(int64_t value) { return pool_.Intern(IntConst(Type::Index(), value)); }
  Expr Bool(bool value) { return pool_.Intern(IntConst(Type::Of(DType::Bool()), value)); }

  // simplify_index.cc: scalar indices.
  Expr IndexBinary(BinaryOp op, const Expr& a, const Expr& b);
  Expr IndexProduct(const Expr& a, const Expr& b);
  Expr IndexMinMax(BinaryOp op, const Expr& a, const Expr& b);
  Expr IndexCompare(CompareOp op, const Expr& a, const Expr& b);
  void MergeQuotients(LinearSum* sum);
  bool MergeOneQuotient(LinearSum* sum);

  // simplify_division.cc
  Expr DivideIndex(const LinearSum& a, int64_t divisor);
  Expr DivideNonNegative(const LinearSum& a, int64_t divisor);
  Expr ModIndex(const LinearSum& a, int64_t divisor);
  Expr ModNonNegative(const LinearSum& a, int64_t divisor);
  bool SplitByFactor(const LinearSum& a, int64_t divisor, int64_t* factor, LinearSum* high,
                     LinearSum* low);

  // simplify_statement.cc
  Stmt SimplifyFor(const For& loop);
  Stmt SimplifyIf(const If& branch);
  Stmt SimplifyUnder(const Expr& condition, bool holds, const Stmt& s);

  // bounds.cc
  Range ComputeRange(const Expr& e);
  Range RangeOfBinary(const Binary& e);
  int DepthOf(const Expr& e);

  bool IsSum(const Expr& e);
  void Forget();

  ExprPool pool_;
  std::unordered_map<const ExprNode*, std::vector<Binding>> bindings_;
  int depth_ = 0;
  int narrowed_sums_ = 0;  // number of bindings of sums
  // Normal forms of pool nodes. They do not depend on the bindings.
  absl::node_hash_map<const ExprNode*, LinearSum> linear_;
  // Results for the present bindings. The key keeps its node alive, so that no other node gets its
  // address.
  absl::flat_hash_map<const ExprNode*, std::pair<Expr, Expr>> simplified_;
  absl::flat_hash_map<const ExprNode*, Range> ranges_;
  absl::flat_hash_map<const ExprNode*, int> depths_;
  int recursion_ = 0;  // depth of the recursion of Visit
};

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_SIMPLIFIER_H_
