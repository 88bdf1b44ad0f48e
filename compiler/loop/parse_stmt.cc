// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/parse_stmt.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/parse_type.h"
#include "compiler/loop/verify_expr.h"

namespace kiln::loop {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

absl::Status Taken(const Lexer& lexer, Position position, const std::string& name) {
  return lexer.ErrorAt(position, absl::StrCat("'", name, "' means something else already"));
}

bool IsSameAllocation(const BufferNode& a, const BufferNode& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.scope == b.scope &&
         a.alignment_bytes == b.alignment_bytes;
}

}  // namespace

absl::StatusOr<Stmt> StmtParser::ParseBody() {
  const Position position = lexer_.next().position;
  if (depth_ >= kMaxNestingDepth) {
    return lexer_.ErrorAt(position,
                          absl::StrCat("a statement in more than ", kMaxNestingDepth, " others"));
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect("{"));
  ++depth_;
  std::vector<Stmt> stmts;
  while (!lexer_.At("}")) {
    if (lexer_.Accept("let")) {
      KILN_RETURN_IF_ERROR(ParseLet());
      if (lexer_.At("}")) return lexer_.Unexpected("the statement that 'let' is for");
      continue;
    }
    const Position start = lexer_.next().position;
    KILN_ASSIGN_OR_RETURN(Stmt stmt, ParseStmt());
    scope_.ForgetLets();
    if (stmt) positions_.emplace(stmt.get(), start);
    stmts.push_back(std::move(stmt));
  }
  lexer_.Take();
  --depth_;
  return MakeBlock(std::move(stmts));
}

absl::StatusOr<Stmt> StmtParser::ParseStmt() {
  if (lexer_.Accept("for")) return ParseFor();
  if (lexer_.Accept("if")) return ParseIf();
  if (lexer_.Accept("allocate")) return ParseAllocate();
  if (lexer_.Accept("prefetch")) return ParsePrefetch();
  if (lexer_.Accept("call")) return ParseCall();
  if (lexer_.Accept("launch")) return ParseLaunch();
  if (lexer_.Accept("fail")) return ParseFail();
  if (exprs_.AtBuffer()) return ParseStore();
  return lexer_.Unexpected("a statement");
}

// let t0 = value
absl::Status StmtParser::ParseLet() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const std::string name, lexer_.ExpectName("a name for an expression"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("="));
  KILN_ASSIGN_OR_RETURN(Expr value, exprs_.Parse());
  return scope_.Let(name, std::move(value)) ? absl::OkStatus() : Taken(lexer_, position, name);
}

absl::StatusOr<Var> StmtParser::LoopVar(const std::string& name, Position position) {
  if (const Meaning* meaning = scope_.Find(name)) {
    const Expr* var = std::get_if<Expr>(meaning);
    const bool is_loop_var =
        var != nullptr && var->As<VarNode>() != nullptr && var->type() == Type::Index();
    return is_loop_var ? absl::StatusOr<Var>(*var) : Taken(lexer_, position, name);
  }
  const Var var = MakeVar(name);
  if (!scope_.Declare(name, var)) return Taken(lexer_, position, name);
  return var;
}

ForKind StmtParser::ParseKind() {
  if (lexer_.Accept("parallel")) return ForKind::kParallel;
  if (lexer_.Accept("vectorized")) return ForKind::kVectorized;
  if (lexer_.Accept("unrolled")) return ForKind::kUnrolled;
  return ForKind::kSerial;
}

// for i in 0..8 parallel { … }, for i in a..+8 { … }
absl::StatusOr<Stmt> StmtParser::ParseFor() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const std::string name, lexer_.ExpectName("the variable of a loop"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("in"));
  KILN_ASSIGN_OR_RETURN(const Expr begin, exprs_.ParseIndex());
  const bool counts = lexer_.Accept("..+");
  if (!counts) KILN_RETURN_IF_ERROR(lexer_.Expect(".."));
  KILN_ASSIGN_OR_RETURN(const Expr last, exprs_.ParseIndex());
  const ForKind kind = ParseKind();
  scope_.ForgetLets();
  KILN_ASSIGN_OR_RETURN(const Var var, LoopVar(name, position));
  KILN_ASSIGN_OR_RETURN(Stmt body, ParseBody());
  return MakeFor(var, begin, counts ? last : last - begin, kind, std::move(body));
}

absl::StatusOr<Stmt> StmtParser::ParseIf() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const Expr condition, exprs_.Parse());
  if (condition.type() != Type::Of(DType::Bool())) {
    return lexer_.ErrorAt(position, absl::StrCat("found a condition of ",
                                                 condition.type().ToString(), ", wanted bool"));
  }
  scope_.ForgetLets();
  KILN_ASSIGN_OR_RETURN(Stmt then_body, ParseBody());
  Stmt else_body;
  if (lexer_.Accept("else")) {
    KILN_ASSIGN_OR_RETURN(else_body, ParseBody());
  }
  return MakeIf(condition, std::move(then_body), std::move(else_body));
}

// Returns the buffer that already has this name if it is the same kind of allocation. If the name
// is free, declares `buffer` and returns it.
absl::StatusOr<Buffer> StmtParser::Allocated(Buffer buffer, Position position) {
  const Meaning* meaning = scope_.Find(buffer->name);
  if (meaning == nullptr) {
    if (scope_.Declare(buffer->name, buffer)) return buffer;
  } else if (const Buffer* other = std::get_if<Buffer>(meaning)) {
    if (IsSameAllocation(**other, *buffer)) return *other;
  }
  return Taken(lexer_, position, buffer->name);
}

// allocate a: float32[8] workspace 64 { … }
absl::StatusOr<Stmt> StmtParser::ParseAllocate() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const std::string name, lexer_.ExpectName("a buffer's name"));
  KILN_RETURN_IF_ERROR(lexer_.Expect(":"));
  KILN_ASSIGN_OR_RETURN(const Buffer type, ParseBufferType(lexer_, name, BufferScope::kLocal));
  BufferNode node = *type;
  int64_t offset = 0;
  if (lexer_.Accept("workspace")) {
    node.scope = BufferScope::kWorkspace;
    KILN_ASSIGN_OR_RETURN(offset, lexer_.ExpectInt("an offset in bytes", 0, kMaxTensorBytes));
  } else if (lexer_.Accept("static")) {
    node.scope = BufferScope::kStatic;
  }
  KILN_ASSIGN_OR_RETURN(const Buffer buffer,
                        Allocated(std::make_shared<const BufferNode>(node), position));
  KILN_ASSIGN_OR_RETURN(Stmt body, ParseBody());
  return MakeAllocate(buffer, std::move(body), offset);
}

// a[i, j] = value
absl::StatusOr<Stmt> StmtParser::ParseStore() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const Buffer buffer, exprs_.ParseBuffer());
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> index, exprs_.ParseIndices());
  KILN_RETURN_IF_ERROR(lexer_.Expect("="));
  const Position value_position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(Expr value, exprs_.Parse());
  // The indices of a store obey the rules of a load.
  const int lanes = index.empty() ? 1 : index[0].type().lanes;
  const Type type = Type::Of(buffer->dtype, lanes);
  const std::string error = FindTypeError(NewExpr(type, Load{buffer, index}));
  if (!error.empty()) return lexer_.ErrorAt(position, error);
  if (value.type() != type) {
    return lexer_.ErrorAt(value_position, absl::StrCat("found a value of ", value.type().ToString(),
                                                       ", wanted ", type.ToString()));
  }
  return MakeStore(buffer, std::move(index), std::move(value));
}

// prefetch a[i] to cache 2
absl::StatusOr<Stmt> StmtParser::ParsePrefetch() {
  KILN_ASSIGN_OR_RETURN(const Buffer buffer, exprs_.ParseBuffer());
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  KILN_ASSIGN_OR_RETURN(const Expr offset, exprs_.ParseIndex());
  KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  int64_t level = 1;
  if (lexer_.Accept("to")) {
    KILN_RETURN_IF_ERROR(lexer_.Expect("cache"));
    KILN_ASSIGN_OR_RETURN(level, lexer_.ExpectInt("a cache's level", 1, 2));
  }
  return MakePrefetch(buffer, offset, static_cast<int>(level));
}

// fail "take: found index ", i, ", wanted 0 to 3"
absl::StatusOr<Stmt> StmtParser::ParseFail() {
  KILN_ASSIGN_OR_RETURN(std::string before, lexer_.ExpectString("a text"));
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  KILN_ASSIGN_OR_RETURN(Expr number, exprs_.Parse());
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  KILN_ASSIGN_OR_RETURN(std::string after, lexer_.ExpectString("a text"));
  return MakeFail(std::move(before), std::move(number), std::move(after));
}

// (a, b + 8, i): addresses in buffers, and integers
absl::StatusOr<std::vector<Argument>> StmtParser::ParseArguments() {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  std::vector<Argument> args;
  while (!lexer_.At(")")) {
    if (!args.empty()) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    Argument arg{.buffer = nullptr, .offset = Expr(0)};
    if (exprs_.AtBuffer()) {
      KILN_ASSIGN_OR_RETURN(arg.buffer, exprs_.ParseBuffer());
      if (lexer_.Accept("+")) {
        KILN_ASSIGN_OR_RETURN(arg.offset, exprs_.ParseIndex());
      }
    } else {
      KILN_ASSIGN_OR_RETURN(arg.offset, exprs_.ParseIndex());
    }
    args.push_back(std::move(arg));
  }
  lexer_.Take();
  return args;
}

// call f(a, b + 8) profile 3
absl::StatusOr<Stmt> StmtParser::ParseCall() {
  KILN_ASSIGN_OR_RETURN(std::string name, lexer_.ExpectSymbol("a function's name"));
  KILN_ASSIGN_OR_RETURN(std::vector<Argument> args, ParseArguments());
  int64_t profile = -1;
  if (lexer_.Accept("profile")) {
    KILN_ASSIGN_OR_RETURN(profile, lexer_.ExpectInt("a profile's index", 0, kMaxInt32));
  }
  return MakeCall(std::move(name), std::move(args), static_cast<int32_t>(profile));
}

// launch 4 f(a, b + 8, i)
absl::StatusOr<Stmt> StmtParser::ParseLaunch() {
  KILN_ASSIGN_OR_RETURN(const int64_t tasks, lexer_.ExpectInt("a number of tasks", 1, kMaxInt));
  KILN_ASSIGN_OR_RETURN(std::string name, lexer_.ExpectSymbol("a function's name"));
  KILN_ASSIGN_OR_RETURN(std::vector<Argument> args, ParseArguments());
  return MakeLaunch(std::move(name), tasks, std::move(args));
}

}  // namespace kiln::loop
