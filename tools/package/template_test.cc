// SPDX-License-Identifier: Apache-2.0
#include "tools/package/template.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace kiln::tools {
namespace {

std::string Fill(absl::string_view text, const Marks& marks) {
  const absl::StatusOr<std::string> filled = FillTemplate(text, marks);
  EXPECT_TRUE(filled.ok()) << filled.status();
  return filled.value_or("");
}

TEST(Template, ValuesStandForTheirMarks) {
  EXPECT_EQ(Fill("{{a}} and {{b}}{{a}}\n", {.values = {{"a", "x"}, {"b", "{y}"}}}), "x and {y}x\n");
  EXPECT_EQ(Fill("${A} {b} }}\n", {}), "${A} {b} }}\n");
}

TEST(Template, ALineStandsThereForEachElement) {
  const Marks marks = {.values = {{"n", "m"}}, .lists = {{"s", {"a.c", "b.c"}}, {"o", {}}}};
  EXPECT_EQ(Fill("lib({{n}}\n  {{n}}/{{s}}\n  {{o}}\n)\n", marks), "lib(m\n  m/a.c\n  m/b.c\n)\n");
}

TEST(Template, ElementsMayHaveMarks) {
  const Marks marks = {.values = {{"n", "m"}}, .lists = {{"s", {"{{n}}.c"}}}};
  EXPECT_EQ(Fill("{{s}}\n", marks), "m.c\n");
}

TEST(Template, LinesEndOnce) {
  EXPECT_EQ(Fill("a\n\nb", {}), "a\n\nb\n");
  EXPECT_EQ(Fill("{{a}}\n", {.values = {{"a", "x\ny"}}}), "x\ny\n");
}

TEST(Template, UnknownMarks) {
  for (const char* text : {"a {{b}}\n", "a {{b\n"}) {
    const absl::Status status = FillTemplate(text, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(status.message(), "a template has the unknown mark {{b");
  }
}

}  // namespace
}  // namespace kiln::tools
