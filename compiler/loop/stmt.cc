// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "compiler/loop/check.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/stage.h"

namespace kiln::loop {
namespace {

template <typename T>
Stmt NewStmt(T value) {
  return Stmt(std::make_shared<const StmtNode>(StmtNode{std::move(value)}));
}

}  // namespace

Stmt MakeFor(Var var, Expr begin, Expr extent, ForKind kind, Stmt body) {
  KILN_CHECK(var.As<VarNode>() != nullptr, "the variable of a loop is an expression");
  KILN_CHECK(var.type() == Type::Index() && begin.type() == Type::Index() &&
                 extent.type() == Type::Index(),
             absl::StrCat("loop over ", var.As<VarNode>()->name, " of type ", var.type().ToString(),
                          " from ", begin.type().ToString(), " over ", extent.type().ToString()));
  int64_t count;
  if (!body || (AsInt(extent, &count) && count <= 0)) return {};
  return NewStmt(For{std::move(var), std::move(begin), std::move(extent), kind, std::move(body)});
}

Stmt MakeStore(Buffer buffer, std::vector<Expr> index, Expr value) {
  const int lanes = LanesOfAccess(buffer, index);
  if (value.type().index && IsConstant(value)) value = MakeCast(buffer->dtype, std::move(value));
  for (Expr& i : index) i = WithLanes(std::move(i), lanes);
  value = WithLanes(std::move(value), lanes);
  KILN_CHECK(value.type() == Type::Of(buffer->dtype, lanes),
             absl::StrCat("store of ", value.type().ToString(), " to ", buffer->name, " of ",
                          buffer->dtype.ToString(), " at ", lanes, " lanes"));
  return NewStmt(Store{std::move(buffer), std::move(index), std::move(value)});
}

Stmt MakePrefetch(Buffer buffer, Expr offset, int level) {
  KILN_CHECK(offset.type() == Type::Index(),
             absl::StrCat("prefetch of ", buffer->name, " at ", offset.type().ToString()));
  KILN_CHECK(level == 1 || level == 2, absl::StrCat("prefetch to cache ", level));
  return NewStmt(Prefetch{std::move(buffer), std::move(offset), level});
}

Stmt MakeBlock(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (Stmt& stmt : stmts) {
    if (!stmt) continue;
    if (const Block* block = stmt.As<Block>()) {
      flat.insert(flat.end(), block->stmts.begin(), block->stmts.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.empty()) return {};
  if (flat.size() == 1) return flat[0];
  return NewStmt(Block{std::move(flat)});
}

Stmt MakeIf(Expr condition, Stmt then_body, Stmt else_body) {
  KILN_CHECK(condition.type() == Type::Of(DType::Bool()),
             absl::StrCat("condition of type ", condition.type().ToString()));
  int64_t value;
  if (AsInt(condition, &value)) return value != 0 ? then_body : else_body;
  if (!then_body && !else_body) return {};
  if (!then_body) return MakeIf(Not(condition), std::move(else_body));
  return NewStmt(If{std::move(condition), std::move(then_body), std::move(else_body)});
}

Stmt MakeAllocate(Buffer buffer, Stmt body, int64_t workspace_offset) {
  KILN_CHECK(buffer->scope != BufferScope::kParam && buffer->scope != BufferScope::kConstant,
             absl::StrCat("allocation of ", buffer->name, ", which is not local"));
  if (!body) return {};
  return NewStmt(Allocate{std::move(buffer), std::move(body), workspace_offset});
}

Stmt MakeCall(std::string function, std::vector<Argument> args, int32_t profile_index) {
  return NewStmt(Call{std::move(function), std::move(args), profile_index});
}

Stmt MakeLaunch(std::string function, int64_t max_tasks, std::vector<Argument> args) {
  KILN_CHECK(max_tasks >= 1, absl::StrCat("launch of ", max_tasks, " tasks"));
  return NewStmt(Launch{std::move(function), max_tasks, std::move(args)});
}

Stmt MakeFail(std::string before, Expr number, std::string after) {
  KILN_CHECK(!number.type().is_vector() && number.type().dtype.is_integral(),
             absl::StrCat("failure with a number of type ", number.type().ToString()));
  KILN_CHECK(before.size() + after.size() <= kMaxFailText,
             absl::StrCat("failure with a text of ", before.size() + after.size(), " bytes"));
  return NewStmt(Fail{std::move(before), std::move(number), std::move(after)});
}

Stmt StoreOf(const Stage& stage) {
  const Stmt store = MakeStore(stage.buffer, stage.index, stage.value);
  if (!stage.check.has_value()) return store;
  const Stage::Check& check = *stage.check;
  return MakeBlock({MakeIf(check.fails, MakeFail(check.before, check.number, check.after)), store});
}

const Func* LoopProgram::FindFunc(absl::string_view name) const {
  for (const Func& func : funcs) {
    if (func.name == name) return &func;
  }
  return nullptr;
}

}  // namespace kiln::loop
