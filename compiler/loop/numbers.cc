// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/numbers.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/replace_operands.h"

namespace kiln::loop {
namespace {

// A scalar parameter holds 32 bits on small machines.
bool IsNumber(const Expr& e) {
  if (e.As<FloatImm>() != nullptr) return e.type() == Type::Of(DType::Float(32));
  const auto* imm = e.As<IntImm>();
  return imm != nullptr && e.type() != Type::Index() && !e.type().dtype.is_bool() &&
         imm->value >= std::numeric_limits<int32_t>::min() &&
         imm->value <= std::numeric_limits<int32_t>::max();
}

int64_t ScalarOf(const Expr& number) {
  if (const auto* imm = number.As<IntImm>()) return imm->value;
  return std::bit_cast<int32_t>(static_cast<float>(number.As<FloatImm>()->value));
}

Expr ReplaceInValue(const Expr& value, const std::function<Expr(const Expr&)>& f) {
  if (IsNumber(value)) return f(value);
  std::unordered_set<const ExprNode*> visited;
  std::unordered_map<const ExprNode*, Expr> replaced;
  WalkPostOrder(value, visited, [&](const Expr& e) {
    // The operands of these are lanes of one constant.
    const bool keeps =
        e.As<Dot>() != nullptr || e.As<Broadcast>() != nullptr || e.As<Interleave>() != nullptr;
    replaced[e.get()] = ReplaceOperands(e, [&](const Expr& operand) {
      return !keeps && IsNumber(operand) ? f(operand) : replaced.at(operand.get());
    });
  });
  return replaced.at(value.get());
}

}  // namespace

Expr FromScalar(const Type& type, const Var& scalar) {
  if (!type.dtype.is_float()) return MakeCast(type.dtype, scalar);
  return MakeBitcast(type.dtype, MakeCast(DType::Int(32), scalar));
}

Stmt ReplaceNumbers(const Stmt& s, const std::function<Expr(const Expr&)>& f) {
  return MutateStmt(s, [&](const Stmt& stmt) {
    const auto* store = stmt.As<Store>();
    if (store == nullptr) return stmt;
    return MakeStore(store->buffer, store->index, ReplaceInValue(store->value, f));
  });
}

Stmt CommonNumbers::Apply(const Stmt& s) const {
  size_t next = 0;
  return ReplaceNumbers(s, [&](const Expr& number) {
    const Expr& scalar = replacements[next++];
    return scalar.get() == nullptr ? number : FromScalar(number.type(), scalar);
  });
}

std::optional<CommonNumbers> FindCommonNumbers(const std::vector<Stmt>& statements,
                                               size_t max_scalars) {
  std::vector<std::vector<int64_t>> all;
  for (const Stmt& s : statements) {
    std::vector<int64_t>& numbers = all.emplace_back();
    ReplaceNumbers(s, [&](const Expr& number) {
      numbers.push_back(ScalarOf(number));
      return number;
    });
    if (numbers.size() != all[0].size()) return std::nullopt;
  }
  CommonNumbers common;
  common.values.resize(statements.size());
  std::map<std::vector<int64_t>, Var> scalars;  // by what they are in each statement
  for (size_t k = 0; k < all[0].size(); ++k) {
    std::vector<int64_t> column;
    for (const std::vector<int64_t>& numbers : all) column.push_back(numbers[k]);
    Expr& replacement = common.replacements.emplace_back();
    if (std::count(column.begin(), column.end(), column[0]) == std::ssize(column)) continue;
    auto found = scalars.find(column);
    if (found == scalars.end()) {
      const Var scalar = MakeVar(absl::StrCat("number", scalars.size()));
      common.scalars.push_back(scalar);
      for (size_t i = 0; i < column.size(); ++i) common.values[i].push_back(column[i]);
      found = scalars.emplace(std::move(column), scalar).first;
    }
    replacement = found->second;
  }
  if (scalars.size() > max_scalars) return std::nullopt;
  return common;
}

}  // namespace kiln::loop
