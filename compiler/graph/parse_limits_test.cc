// SPDX-License-Identifier: Apache-2.0
// Texts that would take too much memory or stack.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// Small texts that unfold to a large graph or nest deeply.
TEST(ParseLimits, RefusesWhatIsTooDeepOrTooLarge) {
  const std::string header = "#[version = \"0.0.5\"]\n";
  auto repeat = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  std::string doubling = "def @main(%a: int8) { let %t0 = (%a, %a);\n";
  std::string nesting = "def @main(%a: int8) { let %t0 = (%a,);\n";
  std::string empties = "def @main(%a: int8) { let %t0 = ((), ());\n";
  for (int i = 1; i < 1000; ++i) {
    const std::string last = absl::StrCat("%t", i - 1);
    absl::StrAppend(&doubling, "let %t", i, " = (", last, ", ", last, ");\n");
    absl::StrAppend(&empties, "let %t", i, " = (", last, ", ", last, ");\n");
    absl::StrAppend(&nesting, "let %t", i, " = (", last, ",);\n");
  }
  std::string calls = "def @f0(%x: int8) { nn.relu(%x) }\n";
  for (int i = 1; i < 64; ++i) {
    absl::StrAppend(&calls, "def @f", i, "(%x: int8) { @f", i - 1, "(@f", i - 1, "(%x)) }\n");
  }
  const std::string texts[] = {
      "def @main() { " + repeat("(", 100000),
      "def @main() { " + repeat("nn.relu(", 100000),
      "def @main() { " + repeat("{", 100000),
      "def @main() { " + repeat("let %x = ", 100000),
      "def @main() { 1" + repeat("(1)", 100000) + "}",
      "def @main() { 1" + repeat(".0", 100000) + "}",
      "def @main(a=" + repeat("[", 100000),
      "def @main(%a: " + repeat("(", 100000),
      "def @main(%a: " + repeat("fn () -> ", 100000),
      "def @main() { 1 }\n#[metadata]" + repeat("[", 100000),
      doubling + "%t999 }",
      nesting + "%t999 }",
      empties + "%t999 }",
      calls + "def @main(%a: int8) { @f63(%a) }",
  };
  for (const std::string& text : texts) {
    EXPECT_FALSE(ParseRelay(header + text, "t.relay", FindTestOp).ok()) << text.substr(0, 60);
  }
}

// A text of a thousand bytes may unfold to about 40,000 nodes, but not to a million.
TEST(ParseLimits, WhatCallsUnfoldToIsInProportionToTheText) {
  std::string text = "#[version = \"0.0.5\"]\ndef @f0(%x: int8) { nn.relu(%x) }\n";
  const auto add_levels = [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      absl::StrAppend(&text, "def @f", i, "(%x: int8) { @f", i - 1, "(@f", i - 1, "(%x)) }\n");
    }
  };
  const auto parse = [&](int level) {
    return ParseRelay(absl::StrCat(text, "def @main(%a: int8) { @f", level, "(%a) }"), "t.relay",
                      FindTestOp);
  };
  add_levels(1, 15);
  EXPECT_EQ(parse(14)->nodes.size(), size_t{1} << 14);
  add_levels(15, 19);
  const absl::Status status = parse(18).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the calls of functions unfold to more than"), std::string::npos)
      << status;
}

TEST(ParseLimits, LongListsAreNoDepth) {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%a: int8) { let %t0 = %a;\n";
  for (int i = 1; i < 20000; ++i)
    absl::StrAppend(&text, "let %t", i, " = nn.relu(%t", i - 1, ");\n");
  text += "%a";
  for (int i = 0; i < 20000; ++i) text += " + %a";
  absl::StatusOr<Graph> graph = ParseRelay(text + " }", "t.relay", FindTestOp);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes.size(), 39999u);
}

}  // namespace
}  // namespace kiln
