// SPDX-License-Identifier: Apache-2.0
// Parsing of types and attribute values.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/literal.h"
#include "compiler/graph/parser.h"

namespace kiln::relay {

absl::StatusOr<TypeSyntax> Parser::ParseType() {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  TypeSyntax type;
  type.position = lexer_.next().position;
  if (lexer_.At("(")) {
    bool is_tuple = false;
    KILN_ASSIGN_OR_RETURN(type.fields, ParseTypeList(is_tuple));
    if (!is_tuple) {
      TypeSyntax only = std::move(type.fields[0]);
      return only;
    }
    type.kind = TypeSyntax::Kind::kTuple;
    return type;
  }
  if (lexer_.next().kind != TokenKind::kName) return lexer_.Unexpected("a type");
  if (lexer_.At("Tensor")) return ParseTensorType(type.position);
  if (lexer_.At("_")) {
    lexer_.Take();
    return type;
  }
  if (lexer_.At("fn")) {
    lexer_.Take();
    bool is_tuple = false;
    KILN_RETURN_IF_ERROR(ParseTypeList(is_tuple).status());
    KILN_RETURN_IF_ERROR(lexer_.Expect("->"));
    KILN_RETURN_IF_ERROR(ParseType().status());
    type.kind = TypeSyntax::Kind::kFunction;
    return type;
  }
  absl::StatusOr<DType> dtype = DType::Parse(lexer_.next().text);
  if (!dtype.ok())
    return lexer_.Unexpected(
        "Tensor[(…), dtype], a dtype such as float32, a tuple of types, fn or _");
  lexer_.Take();
  type.kind = TypeSyntax::Kind::kTensor;
  type.tensor.dtype = *dtype;
  return type;
}

absl::StatusOr<TypeSyntax> Parser::ParseTensorType(Position position) {
  lexer_.Take();
  TypeSyntax type;
  type.kind = TypeSyntax::Kind::kTensor;
  type.position = position;
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  KILN_ASSIGN_OR_RETURN(type.tensor.shape, ParseShape());
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  absl::StatusOr<DType> dtype = DType::Parse(lexer_.next().text);
  if (!dtype.ok()) return lexer_.Unexpected("a dtype such as float32");
  lexer_.Take();
  type.tensor.dtype = *dtype;
  KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  TensorType checked = type.tensor;
  for (int64_t& extent : checked.shape) {
    if (extent == kAnyExtent) extent = 1;
  }
  if (absl::Status status = CheckTensorType(checked); !status.ok()) {
    return lexer_.ErrorAt(position, status.message());
  }
  return type;
}

absl::StatusOr<std::vector<TypeSyntax>> Parser::ParseTypeList(bool& is_tuple) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  std::vector<TypeSyntax> types;
  bool ends_with_comma = false;
  while (!lexer_.Accept(")")) {
    KILN_ASSIGN_OR_RETURN(TypeSyntax type, ParseType());
    types.push_back(std::move(type));
    ends_with_comma = lexer_.Accept(",");
    if (!ends_with_comma && !lexer_.At(")")) return lexer_.Unexpected("',' or ')'");
  }
  is_tuple = types.size() != 1 || ends_with_comma;
  return types;
}

absl::StatusOr<int64_t> Parser::ParseInteger(absl::string_view wanted) {
  if (lexer_.next().kind != TokenKind::kInt) return lexer_.Unexpected(wanted);
  const Token token = lexer_.Take();
  absl::StatusOr<int64_t> value = ParseInt(token.text);
  if (!value.ok()) return lexer_.ErrorAt(token.position, value.status().message());
  return value;
}

absl::StatusOr<Shape> Parser::ParseShape() {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  Shape shape;
  while (!lexer_.Accept(")")) {
    if (lexer_.Accept("?")) {
      shape.push_back(kAnyExtent);
    } else {
      constexpr absl::string_view kWanted = "a size such as 8";
      if (lexer_.next().text[0] == '-') return lexer_.Unexpected(kWanted);
      KILN_ASSIGN_OR_RETURN(const int64_t extent, ParseInteger(kWanted));
      shape.push_back(extent);
    }
    if (!lexer_.At(")")) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  }
  return shape;
}

absl::StatusOr<std::optional<TypeSyntax>> Parser::ParseResultType() {
  if (!lexer_.Accept("->")) return std::nullopt;
  KILN_ASSIGN_OR_RETURN(TypeSyntax type, ParseType());
  return type;
}

std::optional<TypeSyntax> Parser::TypeOfComment() const {
  const absl::string_view comment = lexer_.next().comment;
  text::Lexer lexer(comment, lexer_.file_name(), kSyntax);
  if (comment.empty() || !CheckTokens(lexer).ok()) return std::nullopt;
  Parser parser(lexer);
  absl::StatusOr<TypeSyntax> type = parser.ParseType();
  if (!type.ok()) return std::nullopt;
  // TVM writes the source position (span) after the type.
  if (!lexer.AtEnd() && !lexer.At("span")) return std::nullopt;
  return *std::move(type);
}

bool Parser::AtAttr() const {
  return (lexer_.next().kind == TokenKind::kName || lexer_.next().kind == TokenKind::kString) &&
         lexer_.At("=", 1);
}

absl::Status Parser::ParseAttr(std::vector<AttrSyntax>& attrs) {
  AttrSyntax attr;
  const Token name = lexer_.Take();
  attr.position = name.position;
  attr.name = std::string(name.text);
  if (name.kind == TokenKind::kString) {
    absl::StatusOr<std::string> unquoted = Unquote(name.text);
    if (!unquoted.ok()) return lexer_.ErrorAt(name.position, unquoted.status().message());
    attr.name = *std::move(unquoted);
  }
  lexer_.Take();  // "="
  for (const AttrSyntax& other : attrs) {
    if (other.name == attr.name) {
      return lexer_.ErrorAt(attr.position,
                            absl::StrCat("found attribute '", attr.name, "' a second time"));
    }
  }
  if (lexer_.At("meta")) {
    KILN_RETURN_IF_ERROR(SkipReference());
    attr.is_reference = true;
  } else {
    KILN_ASSIGN_OR_RETURN(attr.value, ParseAttrValue());
  }
  attrs.push_back(std::move(attr));
  return absl::OkStatus();
}

// meta[Key][n]
absl::Status Parser::SkipReference() {
  lexer_.Take();
  for (const TokenKind kind : {TokenKind::kName, TokenKind::kInt}) {
    KILN_RETURN_IF_ERROR(lexer_.Expect("["));
    if (lexer_.next().kind != kind) {
      return lexer_.Unexpected(kind == TokenKind::kInt ? "an index" : "the key of a list");
    }
    lexer_.Take();
    KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<AttrValue> Parser::ParseAttrValue() {
  const Token token = lexer_.next();
  auto located = [&](auto value) -> absl::StatusOr<AttrValue> {
    if (!value.ok()) return lexer_.ErrorAt(token.position, value.status().message());
    return AttrValue(*std::move(value));
  };
  if (token.kind == TokenKind::kInt) return lexer_.Take(), located(ParseInt(token.text));
  if (token.kind == TokenKind::kFloat) return lexer_.Take(), located(ParseFloat(token.text));
  if (token.kind == TokenKind::kString) return lexer_.Take(), located(Unquote(token.text));
  if (lexer_.At("True") || lexer_.At("False")) return AttrValue(lexer_.Take().text == "True");
  if (lexer_.At("None") || lexer_.At("nullptr")) return lexer_.Take(), AttrValue::None();
  if (lexer_.At("meta")) {
    return Unsupported("an attribute in the metadata section", "write its value in the text");
  }
  if (lexer_.Accept("[")) return ParseAttrList("]");
  if (lexer_.Accept("(")) return ParseAttrList(")");
  return lexer_.Unexpected(
      "an attribute's value: a number, True, False, None, a \"string\" or a [list]");
}

absl::StatusOr<AttrValue> Parser::ParseAttrList(absl::string_view closing) {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  std::vector<AttrValue> items;
  while (!lexer_.Accept(closing)) {
    KILN_ASSIGN_OR_RETURN(AttrValue item, ParseAttrValue());
    items.push_back(std::move(item));
    if (!lexer_.At(closing)) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  }
  return AttrValue(std::move(items));
}

}  // namespace kiln::relay
