// SPDX-License-Identifier: Apache-2.0
// The parser of Relay text: tokens to syntax tree, by recursive descent. Internal: users call
// ParseRelay (relay_text.h).
//
// parse.cc parses the module and its functions, parse_expr.cc expressions, and parse_type.cc types
// and attribute values.
#ifndef KILN_COMPILER_GRAPH_PARSER_H_
#define KILN_COMPILER_GRAPH_PARSER_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/ast.h"
#include "compiler/graph/lex.h"

namespace kiln::relay {

class Parser {
 public:
  // Both arguments must outlive the parser. `tokens` ends with kEnd.
  Parser(const std::vector<Token>& tokens, absl::string_view file_name)
      : tokens_(tokens), file_name_(file_name) {}

  absl::StatusOr<Module> ParseModule();
  // Operators that the module calls, each with the position of its first use.
  const std::map<std::string, Position>& operators() const { return operators_; }

 private:
  // Increments the recursion depth while it is in scope.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(++depth) {}
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };

  // Functions and bodies.
  absl::Status ParseVersion();
  absl::Status ParseDefinition(Module& module);
  // Parses from the parameters to the closing brace.
  absl::StatusOr<Function> ParseFunction(Position position, std::string name);
  absl::Status ParseParameters(Function& function);
  // ParseBracedBody parses `{ body }`, ParseBody the text between the braces.
  absl::StatusOr<Body> ParseBracedBody();
  absl::StatusOr<Body> ParseBody();
  absl::StatusOr<Binding> ParseBinding();

  // Expressions.
  absl::StatusOr<ExprPtr> ParseExpr();
  absl::StatusOr<ExprPtr> ParseInfix(int level);
  absl::StatusOr<ExprPtr> ParsePostfix();
  absl::StatusOr<ExprPtr> ParsePrimary();
  absl::StatusOr<ExprPtr> ParseWord();
  absl::StatusOr<ExprPtr> ParseMeta();
  absl::StatusOr<ExprPtr> ParseParenthesised();
  absl::StatusOr<ExprPtr> ParseIf();
  absl::StatusOr<ExprPtr> ParseCall(ExprPtr callee);
  absl::StatusOr<ExprPtr> ParseProjection(ExprPtr tuple);

  // Types and attributes.
  absl::StatusOr<TypeSyntax> ParseType();
  absl::StatusOr<TypeSyntax> ParseTensorType(Position position);
  absl::StatusOr<std::vector<TypeSyntax>> ParseTypeList(bool& is_tuple);
  absl::StatusOr<Shape> ParseShape();
  absl::StatusOr<std::optional<TypeSyntax>> ParseResultType();
  // Returns the type in a `/* ty=… */` comment after the last token. Absent if there is none or it
  // cannot be parsed.
  std::optional<TypeSyntax> TypeOfComment() const;
  bool AtAttr() const;
  absl::Status ParseAttr(std::vector<AttrSyntax>& attrs);
  absl::Status SkipReference();
  absl::StatusOr<AttrValue> ParseAttrValue();
  absl::StatusOr<AttrValue> ParseAttrList(absl::string_view closing);

  // Tokens.
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Take();
  bool AtSymbol(absl::string_view symbol, size_t ahead = 0) const;
  bool AtWord(absl::string_view word) const;
  bool TrySymbol(absl::string_view symbol);
  absl::Status ExpectSymbol(absl::string_view symbol);
  // Returns the error "found 'x', wanted …" at the next token.
  absl::Status Wanted(absl::string_view wanted) const;
  absl::Status Unsupported(absl::string_view construct, absl::string_view advice) const;
  absl::Status CheckNesting() const;

  const std::vector<Token>& tokens_;
  const absl::string_view file_name_;
  size_t next_ = 0;
  int depth_ = 0;
  std::map<std::string, Position> operators_;
};

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_PARSER_H_
