// SPDX-License-Identifier: Apache-2.0
// The parser of Relay text: tokens to syntax tree, by recursive descent. Internal: users call
// ParseRelay (relay_text.h).
//
// parse.cc parses the module and its functions, parse_expr.cc expressions, and parse_type.cc types
// and attribute values.
#ifndef KILN_COMPILER_GRAPH_PARSER_H_
#define KILN_COMPILER_GRAPH_PARSER_H_

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

// %x, %0 and @main. CheckTokens has made sure that a name follows the sigil.
inline bool IsGraph(const Token& token) {
  return token.kind == TokenKind::kSigil && text::IsDigit(token.text[1]);
}
inline bool IsGlobal(const Token& token) {
  return token.kind == TokenKind::kSigil && token.text[0] == '@';
}
inline bool IsLocal(const Token& token) {
  return token.kind == TokenKind::kSigil && !IsGraph(token) && !IsGlobal(token);
}

class Parser {
 public:
  // CheckTokens found no error in the text of `lexer`, which must outlive the parser.
  explicit Parser(text::Lexer& lexer) : lexer_(lexer) {}

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
  absl::StatusOr<int64_t> ParseInteger(absl::string_view wanted);
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

  absl::Status Unsupported(absl::string_view construct, absl::string_view advice) const;
  absl::Status CheckNesting() const;

  text::Lexer& lexer_;
  int depth_ = 0;
  std::map<std::string, Position> operators_;
};

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_PARSER_H_
