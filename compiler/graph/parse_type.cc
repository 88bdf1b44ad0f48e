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
  type.position = Peek().position;
  if (AtSymbol("(")) {
    bool is_tuple = false;
    KILN_ASSIGN_OR_RETURN(type.fields, ParseTypeList(is_tuple));
    if (!is_tuple) {
      TypeSyntax only = std::move(type.fields[0]);
      return only;
    }
    type.kind = TypeSyntax::Kind::kTuple;
    return type;
  }
  if (Peek().kind != TokenKind::kIdentifier) return Wanted("a type");
  if (AtWord("Tensor")) return ParseTensorType(type.position);
  if (AtWord("_")) {
    Take();
    return type;
  }
  if (AtWord("fn")) {
    Take();
    bool is_tuple = false;
    KILN_RETURN_IF_ERROR(ParseTypeList(is_tuple).status());
    KILN_RETURN_IF_ERROR(ExpectSymbol("->"));
    KILN_RETURN_IF_ERROR(ParseType().status());
    type.kind = TypeSyntax::Kind::kFunction;
    return type;
  }
  absl::StatusOr<DType> dtype = DType::Parse(Peek().text);
  if (!dtype.ok())
    return Wanted("Tensor[(…), dtype], a dtype such as float32, a tuple of types, fn or _");
  Take();
  type.kind = TypeSyntax::Kind::kTensor;
  type.tensor.dtype = *dtype;
  return type;
}

absl::StatusOr<TypeSyntax> Parser::ParseTensorType(Position position) {
  Take();
  TypeSyntax type;
  type.kind = TypeSyntax::Kind::kTensor;
  type.position = position;
  KILN_RETURN_IF_ERROR(ExpectSymbol("["));
  KILN_ASSIGN_OR_RETURN(type.tensor.shape, ParseShape());
  KILN_RETURN_IF_ERROR(ExpectSymbol(","));
  absl::StatusOr<DType> dtype = DType::Parse(Peek().text);
  if (!dtype.ok()) return Wanted("a dtype such as float32");
  Take();
  type.tensor.dtype = *dtype;
  KILN_RETURN_IF_ERROR(ExpectSymbol("]"));
  TensorType checked = type.tensor;
  for (int64_t& extent : checked.shape) {
    if (extent == kAnyExtent) extent = 1;
  }
  if (absl::Status status = CheckTensorType(checked); !status.ok()) {
    return ErrorAt(file_name_, position, status.message());
  }
  return type;
}

absl::StatusOr<std::vector<TypeSyntax>> Parser::ParseTypeList(bool& is_tuple) {
  KILN_RETURN_IF_ERROR(ExpectSymbol("("));
  std::vector<TypeSyntax> types;
  bool ends_with_comma = false;
  while (!TrySymbol(")")) {
    KILN_ASSIGN_OR_RETURN(TypeSyntax type, ParseType());
    types.push_back(std::move(type));
    ends_with_comma = TrySymbol(",");
    if (!ends_with_comma && !AtSymbol(")")) return Wanted("',' or ')'");
  }
  is_tuple = types.size() != 1 || ends_with_comma;
  return types;
}

absl::StatusOr<Shape> Parser::ParseShape() {
  KILN_RETURN_IF_ERROR(ExpectSymbol("("));
  Shape shape;
  while (!TrySymbol(")")) {
    if (TrySymbol("?")) {
      shape.push_back(kAnyExtent);
    } else {
      if (Peek().kind != TokenKind::kInt || Peek().text[0] == '-')
        return Wanted("a size such as 8");
      absl::StatusOr<int64_t> extent = ParseInt(Peek().text);
      if (!extent.ok()) return ErrorAt(file_name_, Peek().position, extent.status().message());
      Take();
      shape.push_back(*extent);
    }
    if (!AtSymbol(")")) KILN_RETURN_IF_ERROR(ExpectSymbol(","));
  }
  return shape;
}

absl::StatusOr<std::optional<TypeSyntax>> Parser::ParseResultType() {
  if (!TrySymbol("->")) return std::nullopt;
  KILN_ASSIGN_OR_RETURN(TypeSyntax type, ParseType());
  return type;
}

std::optional<TypeSyntax> Parser::TypeOfComment() const {
  if (next_ == 0 || tokens_[next_ - 1].type_comment.empty()) return std::nullopt;
  absl::StatusOr<Tokens> tokens = Lex(tokens_[next_ - 1].type_comment, file_name_);
  if (!tokens.ok()) return std::nullopt;
  Parser parser(tokens->tokens, file_name_);
  absl::StatusOr<TypeSyntax> type = parser.ParseType();
  if (!type.ok()) return std::nullopt;
  // TVM writes the source position (span) after the type.
  if (parser.Peek().kind != TokenKind::kEnd && !parser.AtWord("span")) return std::nullopt;
  return *std::move(type);
}

bool Parser::AtAttr() const {
  return (Peek().kind == TokenKind::kIdentifier || Peek().kind == TokenKind::kString) &&
         AtSymbol("=", 1);
}

absl::Status Parser::ParseAttr(std::vector<AttrSyntax>& attrs) {
  AttrSyntax attr;
  const Token& name = Take();
  attr.position = name.position;
  attr.name = std::string(name.text);
  if (name.kind == TokenKind::kString) {
    absl::StatusOr<std::string> unquoted = Unquote(name.text);
    if (!unquoted.ok()) return ErrorAt(file_name_, name.position, unquoted.status().message());
    attr.name = *std::move(unquoted);
  }
  Take();  // "="
  for (const AttrSyntax& other : attrs) {
    if (other.name == attr.name) {
      return ErrorAt(file_name_, attr.position,
                     absl::StrCat("found attribute '", attr.name, "' a second time"));
    }
  }
  if (AtWord("meta")) {
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
  Take();
  for (const TokenKind kind : {TokenKind::kIdentifier, TokenKind::kInt}) {
    KILN_RETURN_IF_ERROR(ExpectSymbol("["));
    if (Peek().kind != kind) {
      return Wanted(kind == TokenKind::kInt ? "an index" : "the key of a list");
    }
    Take();
    KILN_RETURN_IF_ERROR(ExpectSymbol("]"));
  }
  return absl::OkStatus();
}

absl::StatusOr<AttrValue> Parser::ParseAttrValue() {
  const Token& token = Peek();
  auto located = [&](auto value) -> absl::StatusOr<AttrValue> {
    if (!value.ok()) return ErrorAt(file_name_, token.position, value.status().message());
    return AttrValue(*std::move(value));
  };
  if (token.kind == TokenKind::kInt) return Take(), located(ParseInt(token.text));
  if (token.kind == TokenKind::kFloat) return Take(), located(ParseFloat(token.text));
  if (token.kind == TokenKind::kString) return Take(), located(Unquote(token.text));
  if (AtWord("True") || AtWord("False")) return AttrValue(Take().text == "True");
  if (AtWord("None") || AtWord("nullptr")) return Take(), AttrValue::None();
  if (AtWord("meta")) {
    return Unsupported("an attribute in the metadata section", "write its value in the text");
  }
  if (TrySymbol("[")) return ParseAttrList("]");
  if (TrySymbol("(")) return ParseAttrList(")");
  return Wanted("an attribute's value: a number, True, False, None, a \"string\" or a [list]");
}

absl::StatusOr<AttrValue> Parser::ParseAttrList(absl::string_view closing) {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  std::vector<AttrValue> items;
  while (!TrySymbol(closing)) {
    KILN_ASSIGN_OR_RETURN(AttrValue item, ParseAttrValue());
    items.push_back(std::move(item));
    if (!AtSymbol(closing)) KILN_RETURN_IF_ERROR(ExpectSymbol(","));
  }
  return AttrValue(std::move(items));
}

}  // namespace kiln::relay
