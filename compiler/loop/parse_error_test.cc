// SPDX-License-Identifier: Apache-2.0
// Text that does not parse or does not verify. The message tells the place and the mistake.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/loop/parse.h"
#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

std::string ErrorOf(const std::string& text) {
  const absl::Status status = ParseProgram(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

// The error of a function whose body is `stmt`, which begins at line 2, column 1.
std::string ErrorIn(const std::string& stmt) {
  return ErrorOf(
      absl::StrCat("operator f(x: float32[8], n: int32[8]) -> (y: float32[8]) {\n", stmt, "\n}\n"));
}

TEST(ParseErrorTest, Dots) {
  const auto error = [](const std::string& kind) {
    return ErrorOf("operator f(x: int8[8]) -> (y: int32[1]) {\n  y[0] = dot<" + kind +
                   ">(0i32, x[ramp(0, 1, 2)], x[ramp(0, 1, 2)])\n}\n");
  };
  EXPECT_EQ(error("2, swaps"),
            "loops:2:10: dot in groups of 2 of int8x2 and int8x2 does not give int32");
  EXPECT_EQ(error("2, turns"), "loops:2:17: found 'turns', wanted 'swaps'");
  EXPECT_EQ(error("2, steps 0"), "loops:2:23: found 0, wanted steps, from 1 to 65536");
  EXPECT_EQ(error("2, run 0"), "loops:2:21: found 0, wanted a run, from 1 to 65536");
  EXPECT_EQ(error("2, column_run 0"), "loops:2:28: found 0, wanted a run, from 1 to 65536");
  EXPECT_EQ(error("2, parts 4"), "loops:2:23: found 4, wanted parts, from 1 to 3");
  for (const char* kind :
       {"2, column_run 4", "4, swaps, column_run 2", "2, column_run 1, parts 2", "1, parts 3"}) {
    const std::string group(kind, 1);
    EXPECT_EQ(error(kind), "loops:2:10: dot in groups of " + group +
                               " of int8x2 and int8x2 does not give int32");
  }
  EXPECT_EQ(error("1, steps 2, run 2"),
            "loops:2:10: dot in groups of 1 of int8x2 and int8x2 does not give int32");
  EXPECT_EQ(error("vpmaddwd"), "loops:2:22: found '>', wanted ','");
}

TEST(ParseErrorTest, InterleavedLanes) {
  const auto error = [](const std::string& operands) {
    return ErrorIn("y[ramp(0, 1, 4)] = interleave(" + operands + ")");
  };
  EXPECT_EQ(error(""), "loops:2:20: found 0 operands of interleave");
  EXPECT_EQ(error("x[0]"), "loops:2:20: found 1 operands of interleave, wanted two or more");
  EXPECT_EQ(error("x[0], n[0]"),
            "loops:2:20: an operand of interleave has type int32, not float32");
  EXPECT_EQ(error("1, 2"), "loops:2:20: interleave of 2 operands of index does not give indexx2");
  EXPECT_EQ(error("broadcast(x[0], 40000), broadcast(x[1], 40000)"),
            "loops:2:20: found 80000 lanes of interleave, wanted at most 65536");
}

TEST(ParseErrorTest, Declarations) {
  EXPECT_EQ(ErrorOf("operation f"),
            "loops:1:1: found 'operation', wanted a declaration: constant, operator, main, task, "
            "external, …");
  EXPECT_EQ(ErrorOf("operator f("), "loops:1:12: found the end of the text, wanted a parameter");
  EXPECT_EQ(ErrorOf("operator f(x: float32) -> ()"), "loops:1:22: found ')', wanted '['");
  EXPECT_EQ(ErrorOf("operator f(x: float31[2]) -> ()"),
            "loops:1:15: found 'float31', wanted a type");
  EXPECT_EQ(ErrorOf("operator f(x: int8[1], x: int8[1]) -> () {}"),
            "loops:1:24: 'x' means something else already");
  EXPECT_EQ(ErrorOf("operator f(x: int8[99999999999999999999]) -> () {}"),
            "loops:1:20: found 99999999999999999999, wanted an extent, from 0 to 17179869184");
  EXPECT_EQ(ErrorOf("operator f(x: int64[17179869184, 17179869184]) -> () {}").substr(0, 12),
            "loops:1:15: ");
  EXPECT_EQ(ErrorOf("constant c: int8[2] = [1i8, 2i32]"),
            "loops:1:29: found a value of int32, wanted int8");
  EXPECT_EQ(ErrorOf("constant c: int8[999999999]"),
            "loops:1:28: found the end of the text, wanted '=' and the contents");
  EXPECT_EQ(ErrorOf("data d: \"int"),
            "loops:1:9: a string that does not end, or with an unknown escape");
  EXPECT_EQ(ErrorOf("data d: \"int\" = 3"),
            "loops:1:17: found a value of index, wanted a signed integer or a float");
  EXPECT_EQ(ErrorOf("operator f() -> () {}\noperator f() -> () {}"),
            "loops:2:10: two functions are called f");
}

TEST(ParseErrorTest, Statements) {
  EXPECT_EQ(ErrorIn("z[0] = 1f32"), "loops:2:1: found 'z', wanted a statement");
  EXPECT_EQ(ErrorIn("for i in 0 { }"), "loops:2:12: found '{', wanted '..'");
  EXPECT_EQ(ErrorIn("for x in 0..8 { y[0] = 0f32 }"),
            "loops:2:5: 'x' means something else already");
  EXPECT_EQ(ErrorIn("y[0] = 1f64"), "loops:2:8: found a value of float64, wanted float32");
  EXPECT_EQ(ErrorIn("y[0, 1] = 1f32"), "loops:2:1: 2 indices of y, which has 1 dimensions");
  EXPECT_EQ(ErrorIn("if x[0] { y[0] = 0f32 }"),
            "loops:2:4: found a condition of float32, wanted bool");
  EXPECT_EQ(ErrorIn("let t0 = x[0]"),
            "loops:3:1: found '}', wanted the statement that 'let' is for");
  EXPECT_EQ(ErrorIn("let t0 = x[0]\ny[0] = t0\ny[1] = t0"),
            "loops:4:8: 't0' is no variable and no buffer");
  EXPECT_EQ(ErrorIn("launch 0 f(x)"),
            "loops:2:8: found 0, wanted a number of tasks, from 1 to "
            "9223372036854775807");
  EXPECT_EQ(ErrorIn("prefetch y[0] to cache 3"),
            "loops:2:24: found 3, wanted a cache's level, from 1 to 2");
}

TEST(ParseErrorTest, Expressions) {
  EXPECT_EQ(ErrorIn("y[0] = x[0] + n[0]"),
            "loops:2:13: the right operand has type int32, not float32");
  EXPECT_EQ(ErrorIn("y[0] = x[0] % x[0]"), "loops:2:13: no such operation on float32");
  EXPECT_EQ(ErrorIn("y[0] = !x[0]"), "loops:2:8: found '!' of float32");
  EXPECT_EQ(ErrorIn("y[0] = x[0] && x[1]"), "loops:2:13: found '&&' of float32");
  EXPECT_EQ(ErrorIn("y[0] = max(x[0])"), "loops:2:8: found 1 operands of max, wanted 2");
  EXPECT_EQ(ErrorIn("y[0] = tan(x[0])"), "loops:2:8: 'tan' is no function of expressions");
  EXPECT_EQ(ErrorIn("y[0] = 1e99f32").substr(0, 38), "loops:2:8: '1e99f32' is no constant; w");
  EXPECT_EQ(ErrorIn("y[0] = float32(300i8)"), "loops:2:16: 300 does not fit int8");
  EXPECT_EQ(ErrorIn("y[0] = float32(0.1f16)").substr(0, 14), "loops:2:16: 0.");
  EXPECT_EQ(ErrorIn("y[broadcast(0, 1)] = 0f32"),
            "loops:2:16: found 1, wanted lanes, from 2 to 65536");
  EXPECT_EQ(ErrorIn("y[n[0]] = 0f32"), "loops:2:1: an index of y has type int32, not index");
}

// Errors about rules of whole programs have the position of the statement that breaks them.
TEST(ParseErrorTest, Rules) {
  EXPECT_EQ(ErrorIn("for i in 0..8 {\n  y[i] = x[i + 1]\n}"),
            "loops:3:3: function f: an index of x goes from 1 to 8, but must be in [0, 8)\nin\n"
            "y[i] = x[i + 1]\n");
  EXPECT_EQ(ErrorIn("  x[0] = 1f32").substr(0, 62),
            "loops:2:3: function f: buffer x is written, but it is an input");
  EXPECT_EQ(ErrorOf("operator ok() -> () {}\ntask f() -> () {}"),
            "loops:2:6: function f: 0 scalar parameters");
  // A bound that does not fit into an integer.
  EXPECT_EQ(ErrorIn("for i in 0..9223372036854775807 {\n  y[i * 9] = 0f32\n}").substr(0, 49),
            "loops:3:3: function f: an index of y goes from 0 ");
}

TEST(ParseErrorTest, NestingIsBounded) {
  const auto repeated = [](const char* text, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += text;
    return all;
  };
  EXPECT_EQ(ErrorIn("y[0] = " + repeated("(", 100'000)),
            "loops:2:264: an expression in more than 256 others; use let");
  EXPECT_EQ(ErrorIn("y[0] = " + repeated("- ", 100'000)),
            "loops:2:520: an expression in more than 256 others; use let");
  EXPECT_EQ(ErrorIn(repeated("if true {", 100'000)).substr(0, 45),
            "loops:2:2304: a statement in more than 256 ot");
  EXPECT_EQ(ErrorOf("data d: \"int\" = " + repeated("{", 100'000)),
            "loops:1:273: data in more than 256 others");
  // A long expression is not deeply nested.
  EXPECT_TRUE(ParseProgram("operator f() -> (y: float32[8]) {\n  y[0] = 0f32" +
                           repeated(" + y[0]", 100'000) + "\n}\n")
                  .ok());
}

}  // namespace
}  // namespace kiln::loop
