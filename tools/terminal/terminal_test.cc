// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "tools/terminal/table.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

TEST(Text, CountsCharactersNotBytes) {
  EXPECT_EQ(ColumnsOf(""), 0u);
  EXPECT_EQ(ColumnsOf("abc"), 3u);
  EXPECT_EQ(ColumnsOf("größe…"), 6u);
}

TEST(Text, IsCutInTheMiddle) {
  EXPECT_EQ(CutMiddle("convolution", 11), "convolution");
  EXPECT_EQ(CutMiddle("convolution", 10), "convo…tion");
  EXPECT_EQ(CutMiddle("convolution", 5), "co…on");
  EXPECT_EQ(CutMiddle("convolution", 1), "…");
  EXPECT_EQ(CutMiddle("äöüäöüäöü", 5), "äö…öü");
}

TEST(Text, IsWrappedAtWords) {
  EXPECT_EQ(Wrapped("one two three", 0, 7), "one two\nthree");
  EXPECT_EQ(Wrapped("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(Wrapped("incomprehensible it is", 0, 6), "incomprehensible\nit is");
  EXPECT_EQ(Wrapped("one\ntwo", 4, 80), "one\n    two");
}

TEST(Text, CountsInWords) {
  EXPECT_EQ(Counted(1, "file"), "1 file");
  EXPECT_EQ(Counted(3, "file"), "3 files");
}

TEST(Table, AlignsColumns) {
  Table table({"name", ">bytes"});
  EXPECT_EQ(table.ToString(), "  none\n");
  table.Add({"größe", "7"});
  table.Add({"b", "1234567"});
  EXPECT_EQ(table.ToString(),
            "  name     bytes\n"
            "  größe        7\n"
            "  b      1234567\n");
}

TEST(Table, CutsTheWidestNamesToFit) {
  Table table({"layer", ">bytes", "schedule"});
  table.Add({"functional/conv2d/BiasAdd", "123456789012", "rows outside"});
  for (const int columns : {36, 40, 46, 50}) {
    const std::string text = table.ToString(columns);
    for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      EXPECT_LE(ColumnsOf(text.substr(begin, text.find('\n', begin) - begin)),
                static_cast<size_t>(columns))
          << text;
    }
    EXPECT_NE(text.find("123456789012"), std::string::npos) << "numbers are never cut";
    EXPECT_NE(text.find("…"), std::string::npos);
  }
  EXPECT_EQ(table.ToString(55).find("…"), std::string::npos);
}

TEST(Terminal, IsNoneBehindAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(TerminalColumns(ends[1]), 0);
  EXPECT_FALSE(ShowsColours(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST(Terminal, HasTheColumnsThatTheEnvironmentSays) {
  for (const auto& [text, columns] : {std::pair("60", 60), std::pair("0", 0), std::pair("-1", 0),
                                      std::pair("wide", 0), std::pair("", 0)}) {
    ASSERT_EQ(setenv("COLUMNS", text, 1), 0);
    EXPECT_EQ(TerminalColumns(-1), columns) << text;
  }
  ASSERT_EQ(unsetenv("COLUMNS"), 0);
}

TEST(Terminal, StylesText) {
  EXPECT_EQ(Styled("passed", Style::kGreen, true), "\033[32mpassed\033[0m");
  EXPECT_EQ(Styled("passed", Style::kGreen, false), "passed");
}

}  // namespace
}  // namespace kiln::tools
