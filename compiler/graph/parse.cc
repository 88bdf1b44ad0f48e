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

absl::Status Parser::Unsupported(absl::string_view construct, absl::string_view advice) const {
  return UnimplementedAt(lexer_.file_name(), lexer_.next().position,
                         absl::StrCat(construct, " is not supported; ", advice));
}

absl::Status Parser::CheckNesting() const {
  if (depth_ <= kMaxNestingDepth) return absl::OkStatus();
  return lexer_.ErrorAt(lexer_.next().position,
                        absl::StrCat("nested deeper than ", kMaxNestingDepth,
                                     " levels; bind parts of it with '%0 = …;'"));
}

absl::StatusOr<Module> Parser::ParseModule() {
  KILN_RETURN_IF_ERROR(ParseVersion());
  Module module;
  while (lexer_.next().kind != TokenKind::kEnd) KILN_RETURN_IF_ERROR(ParseDefinition(module));
  return module;
}

absl::Status Parser::ParseVersion() {
  if (!lexer_.At("#") || !lexer_.At("[", 1) || lexer_.next(2).text != "version" ||
      !lexer_.At("=", 3) || lexer_.next(4).kind != TokenKind::kString || !lexer_.At("]", 5)) {
    return lexer_.Unexpected(absl::StrCat("#[version = \"", kVersion, "\"]"));
  }
  for (int i = 0; i < 4; ++i) lexer_.Take();
  if (lexer_.next().text != absl::StrCat("\"", kVersion, "\"")) {
    return lexer_.Unexpected(absl::StrCat("version \"", kVersion, "\""));
  }
  lexer_.Take();
  lexer_.Take();
  return absl::OkStatus();
}

absl::Status Parser::ParseDefinition(Module& module) {
  if (lexer_.At("type")) {
    return Unsupported("a type definition",
                       "algebraic data types need a virtual machine; use tensors and tuples");
  }
  if (lexer_.At("free_var")) {
    return Unsupported("free_var", "make the variable a parameter of @main");
  }
  if (lexer_.At("extern")) {
    return Unsupported("an extern definition", "use tensors and tuples");
  }
  if (!lexer_.At("def")) return lexer_.Unexpected("'def'");
  lexer_.Take();
  if (!IsGlobal(lexer_.next())) return lexer_.Unexpected("a function's name such as @main");
  const Token token = lexer_.Take();
  const std::string name(token.text.substr(1));
  if (auto known = module.find(name); known != module.end()) {
    return lexer_.ErrorAt(token.position,
                          absl::StrCat("found a second definition of @", name,
                                       ", the first is at line ", known->second.position.line));
  }
  KILN_ASSIGN_OR_RETURN(module[name], ParseFunction(token.position, name));
  return absl::OkStatus();
}

absl::StatusOr<Function> Parser::ParseFunction(Position position, std::string name) {
  Function function;
  function.name = std::move(name);
  function.position = position;
  if (lexer_.At("[")) {
    return Unsupported("a function with type parameters", "write it for each type");
  }
  KILN_RETURN_IF_ERROR(ParseParameters(function));
  KILN_ASSIGN_OR_RETURN(function.result_type, ParseResultType());
  KILN_ASSIGN_OR_RETURN(function.body, ParseBracedBody());
  return function;
}

absl::Status Parser::ParseParameters(Function& function) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  while (!lexer_.Accept(")")) {
    if (AtAttr()) {
      KILN_RETURN_IF_ERROR(ParseAttr(function.attrs));
      if (function.attrs.back().is_reference) {
        return Unsupported("a function's attribute in the metadata section",
                           "write its value in the text");
      }
    } else if (IsLocal(lexer_.next()) && function.attrs.empty()) {
      const Token token = lexer_.Take();
      Parameter parameter{
          .name = std::string(token.text.substr(1)), .type = {}, .position = token.position};
      if (lexer_.Accept(":")) {
        KILN_ASSIGN_OR_RETURN(parameter.type, ParseType());
      }
      function.parameters.push_back(std::move(parameter));
    } else {
      return lexer_.Unexpected(function.attrs.empty()
                                   ? "a parameter such as %x, an attribute or ')'"
                                   : "an attribute or ')'");
    }
    if (!lexer_.At(")")) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  }
  return absl::OkStatus();
}

absl::StatusOr<Body> Parser::ParseBracedBody() {
  KILN_RETURN_IF_ERROR(lexer_.Expect("{"));
  KILN_ASSIGN_OR_RETURN(Body body, ParseBody());
  KILN_RETURN_IF_ERROR(lexer_.Expect("}"));
  return body;
}

absl::StatusOr<Body> Parser::ParseBody() {
  Nesting nesting(depth_);
  KILN_RETURN_IF_ERROR(CheckNesting());
  Body body;
  while (lexer_.At("let") || (IsGraph(lexer_.next()) && lexer_.At("=", 1))) {
    KILN_ASSIGN_OR_RETURN(Binding binding, ParseBinding());
    body.bindings.push_back(std::move(binding));
  }
  KILN_ASSIGN_OR_RETURN(body.result, ParseExpr());
  return body;
}

absl::StatusOr<Binding> Parser::ParseBinding() {
  Binding binding;
  const bool is_let = lexer_.At("let");
  if (is_let) lexer_.Take();
  if (is_let && !IsLocal(lexer_.next())) return lexer_.Unexpected("a variable such as %x");
  const Token token = lexer_.Take();
  binding.name = std::string(token.text.substr(1));
  binding.position = token.position;
  if (is_let && lexer_.Accept(":")) {
    KILN_ASSIGN_OR_RETURN(binding.type, ParseType());
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect("="));
  KILN_ASSIGN_OR_RETURN(binding.value, ParseExpr());
  KILN_RETURN_IF_ERROR(lexer_.Expect(";"));
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
    absl::StrAppend(&messages, messages.empty() ? "" : "\n", text::Place(file_name, position),
                    "unknown operator '", name, "'");
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
  text::Lexer lexer(text, file_name, relay::kSyntax);
  KILN_RETURN_IF_ERROR(relay::CheckTokens(lexer));
  relay::Parser parser(lexer);
  KILN_ASSIGN_OR_RETURN(const relay::Module module, parser.ParseModule());
  KILN_RETURN_IF_ERROR(CheckOperators(parser.operators(), file_name, find_op));
  std::vector<Tensor> constants;
  if (!lexer.rest().empty()) {
    absl::StatusOr<std::vector<Tensor>> read = relay::ReadMetadata(lexer.rest());
    if (!read.ok()) {
      return Annotate(read.status(), text::Place(file_name, lexer.next().position));
    }
    constants = *std::move(read);
  }
  return relay::Elaborator(module, constants, text.size(), file_name, find_op, options).Run();
}

}  // namespace kiln
