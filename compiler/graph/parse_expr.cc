// SPDX-License-Identifier: Apache-2.0
// Parsing of expressions.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/literal.h"
#include "compiler/graph/parser.h"

namespace kiln::relay {
namespace {

struct InfixOperator {
  absl::string_view symbol;
  int level;  // a higher level binds tighter
  absl::string_view op;
};

constexpr int kTightestLevel = 3;
constexpr InfixOperator kInfixOperators[] = {
    {"==", 0, "equal"},   {"!=", 0, "not_equal"},     {"<", 1, "less"}, {"<=", 1, "less_equal"},
    {">", 1, "greater"},  {">=", 1, "greater_equal"}, {"+", 2, "add"},  {"-", 2, "subtract"},
    {"*", 3, "multiply"}, {"/", 3, "divide"},
};

const InfixOperator* FindInfix(const Token& token, int level) {
  if (token.kind != TokenKind::kSymbol) return nullptr;
  for (const InfixOperator& infix : kInfixOperators) {
    if (infix.symbol == token.text && infix.level == level) return &infix;
  }
  return nullptr;
}

struct UnsupportedWord {
  absl::string_view word;
  absl::string_view construct;
  absl::string_view advice;
};

constexpr absl::string_view kNoMachine =
    "it needs a virtual machine; export the model without dynamic control flow";
constexpr UnsupportedWord kUnsupportedWords[] = {
    {"match", "match", kNoMachine},
    {"ref", "a reference", "use values"},
    {"ref_read", "a reference", "use values"},
    {"ref_write", "a reference", "use values"},
    {"free_var", "free_var", "make the variable a parameter of @main"},
    {"extern", "extern", "use tensors and tuples"},
    {"type", "a type definition", "use tensors and tuples"},
};

template <typename T>
ExprPtr MakeExpr(Position position, T node) {
  return std::make_unique<Expr>(Expr{position, std::move(node)});
}

}  // namespace

absl::StatusOr<ExprPtr> Parser::ParseExpr() {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  if (AtWord("let") || (Peek().kind == TokenKind::kGraph && AtSymbol("=", 1))) {
    const Position position = Peek().position;
    KILN_ASSIGN_OR_RETURN(Body body, ParseBody());
    return MakeExpr(position, BlockExpr{std::move(body)});
  }
  return ParseInfix(0);
}

absl::StatusOr<ExprPtr> Parser::ParseInfix(int level) {
  if (level > kTightestLevel) return ParsePostfix();
  KILN_ASSIGN_OR_RETURN(ExprPtr first, ParseInfix(level + 1));
  const InfixOperator* infix = FindInfix(Peek(), level);
  if (infix == nullptr) return first;
  const Position position = first->position;
  InfixExpr chain;
  chain.operands.push_back(std::move(first));
  for (; infix != nullptr; infix = FindInfix(Peek(), level)) {
    operators_.try_emplace(std::string(infix->op), Peek().position);
    chain.operators.emplace_back(infix->op);
    chain.positions.push_back(Take().position);
    KILN_ASSIGN_OR_RETURN(ExprPtr operand, ParseInfix(level + 1));
    chain.operands.push_back(std::move(operand));
  }
  return MakeExpr(position, std::move(chain));
}

absl::StatusOr<ExprPtr> Parser::ParsePostfix() {
  KILN_ASSIGN_OR_RETURN(ExprPtr expr, ParsePrimary());
  const int depth = depth_;
  while (AtSymbol("(") || AtSymbol(".")) {
    ++depth_;  // each call or projection is a level of the tree
    KILN_RETURN_IF_ERROR(CheckNesting());
    if (AtSymbol("(")) {
      KILN_ASSIGN_OR_RETURN(expr, ParseCall(std::move(expr)));
    } else {
      KILN_ASSIGN_OR_RETURN(expr, ParseProjection(std::move(expr)));
    }
  }
  depth_ = depth;
  return expr;
}

absl::StatusOr<ExprPtr> Parser::ParsePrimary() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      absl::StatusOr<Tensor> value = ParseScalar(token.text);
      if (!value.ok()) return ErrorAt(file_name_, token.position, value.status().message());
      Take();
      return MakeExpr(token.position, LiteralExpr{*std::move(value)});
    }
    case TokenKind::kLocal:
    case TokenKind::kGraph:
      Take();
      return MakeExpr(token.position, VariableExpr{std::string(token.text)});
    case TokenKind::kGlobal:
      Take();
      return MakeExpr(token.position, GlobalExpr{std::string(token.text)});
    case TokenKind::kIdentifier:
      return ParseWord();
    case TokenKind::kSymbol:
      if (token.text == "(") return ParseParenthesised();
      if (token.text == "{") {
        KILN_ASSIGN_OR_RETURN(Body body, ParseBracedBody());
        return MakeExpr(token.position, BlockExpr{std::move(body)});
      }
      break;
    case TokenKind::kString:
    case TokenKind::kEnd:
      break;
  }
  return Wanted("an expression");
}

absl::StatusOr<ExprPtr> Parser::ParseWord() {
  const Token& token = Peek();
  if (token.text == "True" || token.text == "False") {
    Take();
    return MakeExpr(token.position,
                    LiteralExpr{Tensor::Scalar(DType::Bool(), token.text == "True" ? 1 : 0)});
  }
  if (token.text == "meta") return ParseMeta();
  if (token.text == "if") return ParseIf();
  if (token.text == "fn") {
    Take();
    KILN_ASSIGN_OR_RETURN(Function function, ParseFunction(token.position, ""));
    return MakeExpr(token.position, FunctionExpr{std::move(function)});
  }
  for (const UnsupportedWord& unsupported : kUnsupportedWords) {
    if (token.text == unsupported.word) {
      return Unsupported(unsupported.construct, unsupported.advice);
    }
  }
  Take();
  if (!AtSymbol("(")) return Wanted(absl::StrCat("'(' behind the operator ", token.text));
  std::string name(token.text);
  operators_.try_emplace(name, token.position);
  return MakeExpr(token.position, OperatorExpr{std::move(name)});
}

absl::StatusOr<ExprPtr> Parser::ParseMeta() {
  const Position position = Take().position;
  KILN_RETURN_IF_ERROR(ExpectSymbol("["));
  if (!AtWord("relay.Constant")) {
    return Unsupported(absl::StrCat("a metadata reference to ", Peek().text),
                       "only relay.Constant is; write attributes as name=value");
  }
  Take();
  KILN_RETURN_IF_ERROR(ExpectSymbol("]"));
  KILN_RETURN_IF_ERROR(ExpectSymbol("["));
  if (Peek().kind != TokenKind::kInt) return Wanted("an index");
  absl::StatusOr<int64_t> index = ParseInt(Peek().text);
  if (!index.ok()) return ErrorAt(file_name_, Peek().position, index.status().message());
  Take();
  KILN_RETURN_IF_ERROR(ExpectSymbol("]"));
  return MakeExpr(position, MetaExpr{*index});
}

absl::StatusOr<ExprPtr> Parser::ParseParenthesised() {
  const Position position = Take().position;
  TupleExpr tuple;
  bool ends_with_comma = false;
  while (!TrySymbol(")")) {
    KILN_ASSIGN_OR_RETURN(ExprPtr field, ParseExpr());
    tuple.fields.push_back(std::move(field));
    ends_with_comma = TrySymbol(",");
    if (!ends_with_comma && !AtSymbol(")")) return Wanted("',' or ')'");
  }
  if (tuple.fields.size() == 1 && !ends_with_comma) return std::move(tuple.fields[0]);
  return MakeExpr(position, std::move(tuple));
}

absl::StatusOr<ExprPtr> Parser::ParseIf() {
  const Position position = Take().position;
  IfExpr branches;
  KILN_RETURN_IF_ERROR(ExpectSymbol("("));
  KILN_ASSIGN_OR_RETURN(branches.condition, ParseExpr());
  KILN_RETURN_IF_ERROR(ExpectSymbol(")"));
  KILN_ASSIGN_OR_RETURN(branches.then_body, ParseBracedBody());
  if (!AtWord("else")) return Wanted("'else'");
  Take();
  KILN_ASSIGN_OR_RETURN(branches.else_body, ParseBracedBody());
  return MakeExpr(position, std::move(branches));
}

absl::StatusOr<ExprPtr> Parser::ParseCall(ExprPtr callee) {
  const Position position = callee->position;
  CallExpr call;
  call.callee = std::move(callee);
  KILN_RETURN_IF_ERROR(ExpectSymbol("("));
  while (!TrySymbol(")")) {
    if (AtAttr()) {
      KILN_RETURN_IF_ERROR(ParseAttr(call.attrs));
    } else if (!call.attrs.empty()) {
      return Wanted("an attribute or ')'");
    } else {
      KILN_ASSIGN_OR_RETURN(ExprPtr argument, ParseExpr());
      call.arguments.push_back(std::move(argument));
    }
    if (!AtSymbol(")")) KILN_RETURN_IF_ERROR(ExpectSymbol(","));
  }
  call.type = TypeOfComment();
  return MakeExpr(position, std::move(call));
}

absl::StatusOr<ExprPtr> Parser::ParseProjection(ExprPtr tuple) {
  const Position position = tuple->position;
  Take();  // "."
  if (Peek().kind != TokenKind::kInt) return Wanted("the number of a tuple's field");
  absl::StatusOr<int64_t> index = ParseInt(Peek().text);
  if (!index.ok()) return ErrorAt(file_name_, Peek().position, index.status().message());
  Take();
  return MakeExpr(position, ProjectExpr{std::move(tuple), *index});
}

}  // namespace kiln::relay
