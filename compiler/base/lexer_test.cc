// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/lexer.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kiln::text {
namespace {

size_t Letters(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && absl::ascii_isalpha(static_cast<unsigned char>(text[n]))) ++n;
  return n;
}

constexpr absl::string_view kSymbols[] = {"->"};
constexpr absl::string_view kFloatWords[] = {"inf"};

Syntax Language() {
  return {.spaces = " \n",
          .symbols = kSymbols,
          .name_length = Letters,
          .sigils = "%",
          .sigil_name_length = Letters,
          .exponents = "e",
          .suffix_length = [](absl::string_view text, bool) { return Letters(text); },
          .end = "the end"};
}

Syntax OtherLanguage() {
  Syntax syntax = Language();
  syntax.comment_mark = "ty=";
  syntax.strings_have_lines = true;
  syntax.numbers_have_signs = true;
  syntax.float_words = kFloatWords;
  syntax.end_mark = "#end";
  return syntax;
}

// The tokens of a text as "kind:text", each with a semicolon after it.
std::string TokensOf(absl::string_view text, const Syntax& syntax) {
  Lexer lexer(text, "file", syntax);
  std::string all;
  while (!lexer.AtEnd()) {
    const Token token = lexer.Take();
    const char* kinds[] = {"end",   "name",   "int",         "float",       "string",
                           "sigil", "symbol", "open string", "open comment"};
    absl::StrAppend(&all, kinds[static_cast<int>(token.kind)], ":", token.text, ";");
  }
  return all;
}

TEST(LexerTest, Tokens) {
  EXPECT_EQ(TokensOf("for x->%y", Language()), "name:for;name:x;symbol:->;sigil:%y;");
  EXPECT_EQ(TokensOf("a // -> b\n- >", Language()), "name:a;symbol:-;symbol:>;");
  EXPECT_EQ(TokensOf("\"a\\\"b\" %", Language()), "string:\"a\\\"b\";sigil:%;");
  EXPECT_EQ(TokensOf("\"a", Language()), "open string:\"a;");
  EXPECT_EQ(TokensOf("\"a\\", Language()), "open string:\"a\\;");
}

TEST(LexerTest, Numbers) {
  EXPECT_EQ(TokensOf("1 2i 1.5 1e5 1e-5f 3f", Language()),
            "int:1;int:2i;float:1.5;float:1e5;float:1e-5f;float:3f;");
  EXPECT_EQ(TokensOf("0..4 1.x", Language()),
            "int:0;symbol:.;symbol:.;int:4;int:1;symbol:.;name:x;");
  // After a dot only digits belong to a number.
  EXPECT_EQ(TokensOf("%x.1.2", Language()), "sigil:%x;symbol:.;int:1;symbol:.;int:2;");
}

TEST(LexerTest, ChoicesOfTheSyntax) {
  EXPECT_EQ(TokensOf("-1 -inf inf", Language()), "symbol:-;int:1;symbol:-;name:inf;name:inf;");
  EXPECT_EQ(TokensOf("-1 -inf inf - 1", OtherLanguage()),
            "int:-1;float:-inf;float:inf;symbol:-;int:1;");
  EXPECT_EQ(TokensOf("\"a\nb\"", Language()), "open string:\"a\n;name:b;open string:\";");
  EXPECT_EQ(TokensOf("\"a\nb\"", OtherLanguage()), "string:\"a\nb\";");
  EXPECT_EQ(TokensOf("a/*b*/", Language()), "name:a;symbol:/;symbol:*;name:b;symbol:*;symbol:/;");
  EXPECT_EQ(TokensOf("a/*/*b*/*/c", OtherLanguage()), "name:a;name:c;");
  EXPECT_EQ(TokensOf("a/*/*b*/", OtherLanguage()), "name:a;open comment:/*/*b*/;");
  EXPECT_EQ(TokensOf("a\t", Language()), "name:a;symbol:\t;");
}

TEST(LexerTest, CommentsAndTheEnd) {
  const Syntax syntax = OtherLanguage();
  Lexer lexer("a /* ty=int */ /* other */ b\n #end rest", "file", syntax);
  EXPECT_EQ(lexer.next(1).text, "b");
  EXPECT_EQ(lexer.next(1).comment, "int");
  EXPECT_EQ(lexer.next(0).comment, "");
  lexer.Take();
  lexer.Take();
  EXPECT_TRUE(lexer.AtEnd());
  EXPECT_EQ(lexer.next().position.line, 2);
  EXPECT_EQ(lexer.next().position.column, 6);
  EXPECT_EQ(lexer.rest(), " rest");
  lexer.Take();
  EXPECT_TRUE(lexer.AtEnd());
}

TEST(LexerTest, Errors) {
  Syntax syntax = Language();
  const std::string text = "if\n x \x01 %" + std::string(50, 'z');
  Lexer lexer(text, "file", syntax);
  EXPECT_EQ(lexer.Expect("else").message(), "file:1:1: found 'if', wanted 'else'");
  EXPECT_TRUE(lexer.Expect("if").ok());
  EXPECT_TRUE(lexer.At("x"));
  EXPECT_FALSE(lexer.Accept("y"));
  EXPECT_TRUE(lexer.Accept("x"));
  EXPECT_EQ(lexer.Unexpected("z").message(), "file:2:4: found '\x01', wanted z");
  syntax.errors_escape = true;
  EXPECT_EQ(lexer.Unexpected("z").message(), "file:2:4: found '\\001', wanted z");
  lexer.Take();
  EXPECT_EQ(lexer.Unexpected("z").message(),
            "file:2:6: found '%" + std::string(40, 'z') + "…', wanted z");
  lexer.Take();
  EXPECT_EQ(lexer.Unexpected("z").message(), "file:2:57: found the end, wanted z");
}

}  // namespace
}  // namespace kiln::text
