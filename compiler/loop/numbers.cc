// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/numbers.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/replace_operands.h"

namespace kiln::loop {
namespace {

// A scalar parameter has 32 bits on small machines.
bool HoldsScalar(int64_t value) {
  return value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

bool IsIndex(const Expr& e) {
  const auto* imm = e.As<IntImm>();
  return imm != nullptr && e.type() == Type::Index() && HoldsScalar(imm->value);
}

bool IsOfValue(const Expr& e) {
  if (e.As<FloatImm>() != nullptr) return e.type() == Type::Of(DType::Float(32));
  const auto* imm = e.As<IntImm>();
  return imm != nullptr && e.type() != Type::Index() && !e.type().dtype.is_bool() &&
         HoldsScalar(imm->value);
}

int64_t ScalarOf(const Expr& number) {
  if (const auto* imm = number.As<IntImm>()) return imm->value;
  return std::bit_cast<int32_t>(static_cast<float>(number.As<FloatImm>()->value));
}

using Predicate = bool (*)(const Expr&);

// True for operations whose operand may be a vector of one constant.
bool TakesLanes(const Expr& e) {
  return e.As<Dot>() != nullptr || e.As<Broadcast>() != nullptr || e.As<Interleave>() != nullptr;
}

// Replaces each number accepted by `is_number` by f(number), except direct operands of nodes for
// which TakesLanes holds.
Expr ReplaceIn(const Expr& root, Predicate is_number, const std::function<Expr(const Expr&)>& f) {
  if (is_number(root)) return f(root);
  std::unordered_set<const ExprNode*> visited;
  std::unordered_map<const ExprNode*, Expr> replaced;
  WalkPostOrder(root, visited, [&](const Expr& e) {
    const bool keeps = TakesLanes(e);
    replaced[e.get()] = ReplaceOperands(e, [&](const Expr& operand) {
      return !keeps && is_number(operand) ? f(operand) : replaced.at(operand.get());
    });
  });
  return replaced.at(root.get());
}

// Replaces the numbers of a statement, but not those of statements within it.
Stmt ReplaceHere(const Stmt& s, Numbers which, const std::function<Expr(const Expr&)>& f) {
  const auto index = [&](const Expr& e) {
    return which == Numbers::kOfValues ? e : ReplaceIn(e, IsIndex, f);
  };
  if (const auto* n = s.As<For>(); n != nullptr && n->kind == ForKind::kSerial) {
    const Expr begin = index(n->begin);
    return MakeFor(n->var, begin, index(n->extent), n->kind, n->body);
  }
  if (const auto* n = s.As<If>()) return MakeIf(index(n->condition), n->then_body, n->else_body);
  const auto* store = s.As<Store>();
  if (store == nullptr) return s;
  std::vector<Expr> place;
  for (const Expr& i : store->index) place.push_back(index(i));
  return MakeStore(store->buffer, std::move(place), index(ReplaceIn(store->value, IsOfValue, f)));
}

// Limits for computing one number from another: this takes an instruction or two.
constexpr int64_t kMaxFactor = 64, kMaxTerm = 4095;

using Column = std::vector<int64_t>;  // a number, as it is in each of the statements

bool IsConstant(const Column& column) {
  return std::count(column.begin(), column.end(), column[0]) == std::ssize(column);
}

// Returns `number` as factor * scalar + term if this holds in every statement. `scalar` stands for
// the numbers `base`.
std::optional<Expr> AsMultiple(const Column& number, const Column& base, const Var& scalar) {
  size_t other = 1;
  while (base[other] == base[0]) ++other;
  const int64_t of_base = base[other] - base[0], of_number = number[other] - number[0];
  if (of_number % of_base != 0) return std::nullopt;
  const int64_t factor = of_number / of_base, term = number[0] - factor * base[0];
  for (size_t i = 0; i < base.size(); ++i) {
    if (number[i] != factor * base[i] + term) return std::nullopt;
  }
  if (std::abs(factor) > kMaxFactor || std::abs(term) > kMaxTerm) return std::nullopt;
  return scalar * Expr(factor) + Expr(term);
}

int64_t SizeOf(const Column& column) {
  int64_t size = 0;
  for (int64_t number : column) size += std::abs(number);
  return size;
}

}  // namespace

Expr FromScalar(const Type& type, const Expr& scalar) {
  if (type == Type::Index()) return scalar;
  if (!type.dtype.is_float()) return MakeCast(type.dtype, scalar);
  return MakeBitcast(type.dtype, MakeCast(DType::Int(32), scalar));
}

Stmt ReplaceNumbers(const Stmt& s, Numbers which, const std::function<Expr(const Expr&)>& f) {
  return MutateStmt(s, [&](const Stmt& stmt) { return ReplaceHere(stmt, which, f); });
}

Stmt CommonNumbers::Apply(const Stmt& s) const {
  size_t next = 0;
  return ReplaceNumbers(s, which, [&](const Expr& number) {
    const Expr& scalar = replacements[next++];
    return scalar.get() == nullptr ? number : FromScalar(number.type(), scalar);
  });
}

std::optional<CommonNumbers> FindCommonNumbers(const std::vector<Stmt>& statements, Numbers which,
                                               size_t max_scalars) {
  std::vector<Column> columns;
  std::vector<bool> of_index;
  for (size_t i = 0; i < statements.size(); ++i) {
    size_t next = 0;
    ReplaceNumbers(statements[i], which, [&](const Expr& number) {
      if (i == 0) columns.emplace_back();
      if (i == 0) of_index.push_back(number.type() == Type::Index());
      if (next < columns.size()) columns[next].push_back(ScalarOf(number));
      ++next;
      return number;
    });
    if (next != columns.size()) return std::nullopt;
  }
  // Numbers of values come first; each needs a scalar of its own. Numbers of indices follow, small
  // ones first, because large ones are computed from them.
  std::vector<size_t> order;
  for (size_t k = 0; k < columns.size(); ++k) {
    if (!IsConstant(columns[k])) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (of_index[a] != of_index[b]) return of_index[b] && !of_index[a];
    return of_index[a] && SizeOf(columns[a]) < SizeOf(columns[b]);
  });
  CommonNumbers common = {.which = which};
  common.values.resize(statements.size());
  common.replacements.resize(columns.size());
  std::vector<Column> scalars;
  for (size_t k : order) {
    const Column& column = columns[k];
    Expr& replacement = common.replacements[k];
    const auto same = std::find(scalars.begin(), scalars.end(), column);
    if (same != scalars.end()) {
      replacement = common.scalars[static_cast<size_t>(same - scalars.begin())];
    }
    for (size_t i = 0; i < scalars.size() && replacement.get() == nullptr && of_index[k]; ++i) {
      const auto multiple = AsMultiple(column, scalars[i], common.scalars[i]);
      if (multiple.has_value()) replacement = *multiple;
    }
    if (replacement.get() != nullptr) continue;
    if (scalars.size() == max_scalars) return std::nullopt;
    replacement = MakeVar(absl::StrCat("number", scalars.size()));
    common.scalars.push_back(replacement);
    scalars.push_back(column);
    for (size_t i = 0; i < column.size(); ++i) common.values[i].push_back(column[i]);
  }
  return common;
}

}  // namespace kiln::loop
