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
  if (lexer_.At("let") || (IsGraph(lexer_.next()) && lexer_.At("=", 1))) {
    const Position position = lexer_.next().position;
    KILN_ASSIGN_OR_RETURN(Body body, ParseBody());
    return MakeExpr(position, BlockExpr{std::move(body)});
  }
  return ParseInfix(0);
}

absl::StatusOr<ExprPtr> Parser::ParseInfix(int level) {
  if (level > kTightestLevel) return ParsePostfix();
  KILN_ASSIGN_OR_RETURN(ExprPtr first, ParseInfix(level + 1));
  const InfixOperator* infix = FindInfix(lexer_.next(), level);
  if (infix == nullptr) return first;
  const Position position = first->position;
  InfixExpr chain;
  chain.operands.push_back(std::move(first));
  for (; infix != nullptr; infix = FindInfix(lexer_.next(), level)) {
    operators_.try_emplace(std::string(infix->op), lexer_.next().position);
    chain.operators.emplace_back(infix->op);
    chain.positions.push_back(lexer_.Take().position);
    KILN_ASSIGN_OR_RETURN(ExprPtr operand, ParseInfix(level + 1));
    chain.operands.push_back(std::move(operand));
  }
  return MakeExpr(position, std::move(chain));
}

absl::StatusOr<ExprPtr> Parser::ParsePostfix() {
  KILN_ASSIGN_OR_RETURN(ExprPtr expr, ParsePrimary());
  const int depth = depth_;
  while (lexer_.At("(") || lexer_.At(".")) {
    ++depth_;  // each call or projection is a level of the tree
    KILN_RETURN_IF_ERROR(CheckNesting());
    if (lexer_.At("(")) {
      KILN_ASSIGN_OR_RETURN(expr, ParseCall(std::move(expr)));
    } else {
      KILN_ASSIGN_OR_RETURN(expr, ParseProjection(std::move(expr)));
    }
  }
  depth_ = depth;
  return expr;
}

absl::StatusOr<ExprPtr> Parser::ParsePrimary() {
  const Token token = lexer_.next();
  switch (token.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat: {
      absl::StatusOr<Tensor> value = ParseScalar(token.text);
      if (!value.ok()) return lexer_.ErrorAt(token.position, value.status().message());
      lexer_.Take();
      return MakeExpr(token.position, LiteralExpr{*std::move(value)});
    }
    case TokenKind::kSigil: {
      lexer_.Take();
      std::string name(token.text.substr(1));
      if (IsGlobal(token)) return MakeExpr(token.position, GlobalExpr{std::move(name)});
      return MakeExpr(token.position, VariableExpr{std::move(name)});
    }
    case TokenKind::kName:
      return ParseWord();
    case TokenKind::kSymbol:
      if (token.text == "(") return ParseParenthesised();
      if (token.text == "{") {
        KILN_ASSIGN_OR_RETURN(Body body, ParseBracedBody());
        return MakeExpr(token.position, BlockExpr{std::move(body)});
      }
      break;
    default:
      break;
  }
  return lexer_.Unexpected("an expression");
}

absl::StatusOr<ExprPtr> Parser::ParseWord() {
  const Token token = lexer_.next();
  if (token.text == "True" || token.text == "False") {
    lexer_.Take();
    return MakeExpr(token.position,
                    LiteralExpr{Tensor::Scalar(DType::Bool(), token.text == "True" ? 1 : 0)});
  }
  if (token.text == "meta") return ParseMeta();
  if (token.text == "if") return ParseIf();
  if (token.text == "fn") {
    lexer_.Take();
    KILN_ASSIGN_OR_RETURN(Function function, ParseFunction(token.position, ""));
    return MakeExpr(token.position, FunctionExpr{std::move(function)});
  }
  for (const UnsupportedWord& unsupported : kUnsupportedWords) {
    if (token.text == unsupported.word) {
      return Unsupported(unsupported.construct, unsupported.advice);
    }
  }
  lexer_.Take();
  if (!lexer_.At("("))
    return lexer_.Unexpected(absl::StrCat("'(' behind the operator ", token.text));
  std::string name(token.text);
  operators_.try_emplace(name, token.position);
  return MakeExpr(token.position, OperatorExpr{std::move(name)});
}

absl::StatusOr<ExprPtr> Parser::ParseMeta() {
  const Position position = lexer_.Take().position;
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  if (!lexer_.At("relay.Constant")) {
    return Unsupported(absl::StrCat("a metadata reference to ", lexer_.next().text),
                       "only relay.Constant is; write attributes as name=value");
  }
  lexer_.Take();
  KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  KILN_ASSIGN_OR_RETURN(const int64_t index, ParseInteger("an index"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  return MakeExpr(position, MetaExpr{index});
}

absl::StatusOr<ExprPtr> Parser::ParseParenthesised() {
  const Position position = lexer_.Take().position;
  TupleExpr tuple;
  bool ends_with_comma = false;
  while (!lexer_.Accept(")")) {
    KILN_ASSIGN_OR_RETURN(ExprPtr field, ParseExpr());
    tuple.fields.push_back(std::move(field));
    ends_with_comma = lexer_.Accept(",");
    if (!ends_with_comma && !lexer_.At(")")) return lexer_.Unexpected("',' or ')'");
  }
  if (tuple.fields.size() == 1 && !ends_with_comma) return std::move(tuple.fields[0]);
  return MakeExpr(position, std::move(tuple));
}

absl::StatusOr<ExprPtr> Parser::ParseIf() {
  const Position position = lexer_.Take().position;
  IfExpr branches;
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(branches.condition, ParseExpr());
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  KILN_ASSIGN_OR_RETURN(branches.then_body, ParseBracedBody());
  if (!lexer_.At("else")) return lexer_.Unexpected("'else'");
  lexer_.Take();
  KILN_ASSIGN_OR_RETURN(branches.else_body, ParseBracedBody());
  return MakeExpr(position, std::move(branches));
}

absl::StatusOr<ExprPtr> Parser::ParseCall(ExprPtr callee) {
  const Position position = callee->position;
  CallExpr call;
  call.callee = std::move(callee);
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  while (!lexer_.Accept(")")) {
    if (AtAttr()) {
      KILN_RETURN_IF_ERROR(ParseAttr(call.attrs));
    } else if (!call.attrs.empty()) {
      return lexer_.Unexpected("an attribute or ')'");
    } else {
      KILN_ASSIGN_OR_RETURN(ExprPtr argument, ParseExpr());
      call.arguments.push_back(std::move(argument));
    }
    if (!lexer_.At(")")) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  }
  call.type = TypeOfComment();
  return MakeExpr(position, std::move(call));
}

absl::StatusOr<ExprPtr> Parser::ParseProjection(ExprPtr tuple) {
  const Position position = tuple->position;
  lexer_.Take();  // "."
  KILN_ASSIGN_OR_RETURN(const int64_t index, ParseInteger("the number of a tuple's field"));
  return MakeExpr(position, ProjectExpr{std::move(tuple), index});
}

}  // namespace kiln::relay
