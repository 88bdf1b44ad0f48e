// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/graph/elaborate.h"
#include "compiler/graph/metadata_section.h"
#include "compiler/graph/parser.h"
#include "compiler/graph/relay_text.h"

namespace kiln::relay {
namespace {

constexpr absl::string_view kVersion = "0.0.5";

}  // namespace

const Token& Parser::Take() {
  const Token& token = Peek();
  if (token.kind != TokenKind::kEnd) ++next_;
  return token;
}

bool Parser::AtSymbol(absl::string_view symbol, size_t ahead) const {
  return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
}

bool Parser::AtWord(absl::string_view word) const {
  return Peek().kind == TokenKind::kIdentifier && Peek().text == word;
}

bool Parser::TrySymbol(absl::string_view symbol) {
  if (!AtSymbol(symbol)) return false;
  Take();
  return true;
}

absl::Status Parser::ExpectSymbol(absl::string_view symbol) {
  return TrySymbol(symbol) ? absl::OkStatus() : Wanted(absl::StrCat("'", symbol, "'"));
}

absl::Status Parser::Wanted(absl::string_view wanted) const {
  const Token& found = Peek();
  const bool is_number = found.kind == TokenKind::kInt || found.kind == TokenKind::kFloat;
  const bool has_sign = is_number && found.text[0] == '-';
  return ErrorAt(file_name_, found.position,
                 absl::StrCat("found ", Describe(found), ", wanted ", wanted,
                              has_sign ? "; a subtraction has a space behind its '-'" : ""));
}

absl::Status Parser::Unsupported(absl::string_view construct, absl::string_view advice) const {
  return UnimplementedAt(file_name_, Peek().position,
                         absl::StrCat(construct, " is not supported; ", advice));
}

absl::Status Parser::CheckNesting() const {
  if (depth_ <= kMaxNestingDepth) return absl::OkStatus();
  return ErrorAt(file_name_, Peek().position,
                 absl::StrCat("nested deeper than ", kMaxNestingDepth,
                              " levels; bind parts of it with '%0 = …;'"));
}

absl::StatusOr<Module> Parser::ParseModule() {
  KILN_RETURN_IF_ERROR(ParseVersion());
  Module module;
  while (Peek().kind != TokenKind::kEnd) KILN_RETURN_IF_ERROR(ParseDefinition(module));
  return module;
}

absl::Status Parser::ParseVersion() {
  if (!AtSymbol("#") || !AtSymbol("[", 1) || Peek(2).text != "version" || !AtSymbol("=", 3) ||
      Peek(4).kind != TokenKind::kString || !AtSymbol("]", 5)) {
    return Wanted(absl::StrCat("#[version = \"", kVersion, "\"]"));
  }
  next_ += 4;
  if (Peek().text != absl::StrCat("\"", kVersion, "\"")) {
    return Wanted(absl::StrCat("version \"", kVersion, "\""));
  }
  next_ += 2;
  return absl::OkStatus();
}

absl::Status Parser::ParseDefinition(Module& module) {
  if (AtWord("type")) {
    return Unsupported("a type definition",
                       "algebraic data types need a virtual machine; use tensors and tuples");
  }
  if (AtWord("free_var")) {
    return Unsupported("free_var", "make the variable a parameter of @main");
  }
  if (AtWord("extern")) {
    return Unsupported("an extern definition", "use tensors and tuples");
  }
  if (!AtWord("def")) return Wanted("'def'");
  Take();
  if (Peek().kind != TokenKind::kGlobal) return Wanted("a function's name such as @main");
  const Token& token = Take();
  const std::string name(token.text);
  if (auto known = module.find(name); known != module.end()) {
    return ErrorAt(file_name_, token.position,
                   absl::StrCat("found a second definition of @", name, ", the first is at line ",
                                known->second.position.line));
  }
  KILN_ASSIGN_OR_RETURN(module[name], ParseFunction(token.position, name));
  return absl::OkStatus();
}

absl::StatusOr<Function> Parser::ParseFunction(Position position, std::string name) {
  Function function;
  function.name = std::move(name);
  function.position = position;
  if (AtSymbol("[")) {
    return Unsupported("a function with type parameters", "write it for each type");
  }
  KILN_RETURN_IF_ERROR(ParseParameters(function));
  KILN_ASSIGN_OR_RETURN(function.result_type, ParseResultType());
  KILN_ASSIGN_OR_RETURN(function.body, ParseBracedBody());
  return function;
}

absl::Status Parser::ParseParameters(Function& function) {
  KILN_RETURN_IF_ERROR(ExpectSymbol("("));
  while (!TrySymbol(")")) {
    if (AtAttr()) {
      KILN_RETURN_IF_ERROR(ParseAttr(function.attrs));
      if (function.attrs.back().is_reference) {
        return Unsupported("a function's attribute in the metadata section",
                           "write its value in the text");
      }
    } else if (Peek().kind == TokenKind::kLocal && function.attrs.empty()) {
      const Token& token = Take();
      Parameter parameter{.name = std::string(token.text), .type = {}, .position = token.position};
      if (TrySymbol(":")) {
        KILN_ASSIGN_OR_RETURN(parameter.type, ParseType());
      }
      function.parameters.push_back(std::move(parameter));
    } else {
      return Wanted(function.attrs.empty() ? "a parameter such as %x, an attribute or ')'"
                                           : "an attribute or ')'");
    }
    if (!AtSymbol(")")) KILN_RETURN_IF_ERROR(ExpectSymbol(","));
  }
  return absl::OkStatus();
}

absl::StatusOr<Body> Parser::ParseBracedBody() {
  KILN_RETURN_IF_ERROR(ExpectSymbol("{"));
  KILN_ASSIGN_OR_RETURN(Body body, ParseBody());
  KILN_RETURN_IF_ERROR(ExpectSymbol("}"));
  return body;
}

absl::StatusOr<Body> Parser::ParseBody() {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  Body body;
  while (AtWord("let") || (Peek().kind == TokenKind::kGraph && AtSymbol("=", 1))) {
    KILN_ASSIGN_OR_RETURN(Binding binding, ParseBinding());
    body.bindings.push_back(std::move(binding));
  }
  KILN_ASSIGN_OR_RETURN(body.result, ParseExpr());
  return body;
}

absl::StatusOr<Binding> Parser::ParseBinding() {
  Binding binding;
  const bool is_let = AtWord("let");
  if (is_let) Take();
  if (is_let && Peek().kind != TokenKind::kLocal) return Wanted("a variable such as %x");
  const Token& token = Take();
  binding.name = std::string(token.text);
  binding.position = token.position;
  if (is_let && TrySymbol(":")) {
    KILN_ASSIGN_OR_RETURN(binding.type, ParseType());
  }
  KILN_RETURN_IF_ERROR(ExpectSymbol("="));
  KILN_ASSIGN_OR_RETURN(binding.value, ParseExpr());
  KILN_RETURN_IF_ERROR(ExpectSymbol(";"));
  return binding;
}

}  // namespace kiln::relay

namespace kiln {
namespace {

// Returns Unimplemented with all operators that `find_op` does not know.
absl::Status CheckOperators(const std::map<std::string, relay::Position>& operators,
                            absl::string_view file_name, const OpLookup& find_op) {
  std::string messages;
  for (const auto& [name, position] : operators) {
    if (find_op(name) != nullptr) continue;
    absl::StrAppend(&messages, messages.empty() ? "" : "\n", file_name, ":", position.line, ":",
                    position.column, ": unknown operator '", name, "'");
  }
  return messages.empty() ? absl::OkStatus() : absl::UnimplementedError(messages);
}

}  // namespace

absl::StatusOr<Graph> ParseRelay(absl::string_view text, absl::string_view file_name,
                                 const OpLookup& find_op, const RelayParseOptions& options) {
  if (static_cast<int64_t>(text.size()) >= kMaxModelFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        file_name, ": found ", text.size(), " bytes, wanted less than ", kMaxModelFileBytes));
  }
  KILN_ASSIGN_OR_RETURN(const relay::Tokens tokens, relay::Lex(text, file_name));
  relay::Parser parser(tokens.tokens, file_name);
  KILN_ASSIGN_OR_RETURN(const relay::Module module, parser.ParseModule());
  KILN_RETURN_IF_ERROR(CheckOperators(parser.operators(), file_name, find_op));
  std::vector<Tensor> constants;
  if (!tokens.metadata.empty()) {
    absl::StatusOr<std::vector<Tensor>> read = relay::ReadMetadata(tokens.metadata);
    if (!read.ok()) {
      const relay::Position position = tokens.metadata_position;
      return Annotate(read.status(),
                      absl::StrCat(file_name, ":", position.line, ":", position.column, ": "));
    }
    constants = *std::move(read);
  }
  return relay::Elaborator(module, constants, text.size(), file_name, find_op, options).Run();
}

}  // namespace kiln
