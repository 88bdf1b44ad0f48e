// SPDX-License-Identifier: Apache-2.0
// Reads, prints and reads again the examples of docs/relay_text.md.
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(Documentation, ExamplesAreRelayText) {
  std::ifstream file("docs/relay_text.md");
  ASSERT_TRUE(file) << "docs/relay_text.md is not there";
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string text = buffer.str();
  const std::string fence = "```relay\n";
  int count = 0;
  for (size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    const std::string example = text.substr(at, text.find("```", at) - at);
    absl::StatusOr<Graph> graph =
        ParseRelay(example, absl::StrCat("example ", ++count), FindTestOp);
    ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << example;
    EXPECT_EQ(Verify(*graph, /*typed=*/false), absl::OkStatus()) << example;
    absl::StatusOr<Graph> again = ParseRelay(PrintRelay(*graph), "print", FindTestOp);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*again == *graph) << example;
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace kiln
