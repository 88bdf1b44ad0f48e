// SPDX-License-Identifier: Apache-2.0
#include "tools/pages/html.h"

#include <gtest/gtest.h>

namespace kiln::tools {
namespace {

TEST(HtmlTest, NamesEndNoElementAndNoAttribute) {
  EXPECT_EQ(EscapeHtml("</td><script>alert('a' & \"b\")"),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)");
  EXPECT_EQ(TextCell("a<b"), "<td>a&lt;b</td>");
  EXPECT_EQ(SummaryItem("<", ">"), "<dt>&lt;</dt><dd>&gt;</dd>\n");
}

TEST(HtmlTest, WhatIsNotUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(EscapeHtml("a\xff"), "a\xEF\xBF\xBD");
}

TEST(HtmlTest, JsonEndsNoScript) {
  const std::string text = ScriptJson({{"name", "</script><!--\xE2\x80\xA8 & \xff"}});
  EXPECT_EQ(text, R"({"name":"\u003c/script\u003e\u003c!--\u2028 \u0026 \ufffd"})");
  EXPECT_EQ(nlohmann::json::parse(text)["name"].get<std::string>().substr(0, 13), "</script><!--");
}

TEST(HtmlTest, MarksAreFilledOnceAndStyleAndScriptAreThere) {
  const std::string page =
      FillPage("<style>{{style}}</style>{{a}}|{{b}}<script>{{script}}</script>",
               {{"a", "{{b}}"}, {"b", "2"}});
  EXPECT_NE(page.find("{{b}}|2"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(page.find("function sortBy"), std::string::npos);
}

TEST(HtmlTest, NumbersAreSortedByTheirValue) {
  EXPECT_EQ(NumberCell(0.5, 1, " %"), "<td data-value=\"0.5\">0.5 %</td>");
}

TEST(HtmlTest, DigitsAreGrouped) {
  EXPECT_EQ(GroupedNumber(0), "0");
  EXPECT_EQ(GroupedNumber(999), "999");
  EXPECT_EQ(GroupedNumber(1000), "1,000");
  EXPECT_EQ(GroupedNumber(-123456), "-123,456");
  EXPECT_EQ(GroupedNumber(1234567890), "1,234,567,890");
}

}  // namespace
}  // namespace kiln::tools
