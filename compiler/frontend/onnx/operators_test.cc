// SPDX-License-Identifier: Apache-2.0
// Checks that the list of operators in docs/onnx.md matches the importer.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/import.h"

namespace kiln::onnx_frontend {
namespace {

std::string LineOfPage(const std::string& start) {
  std::ifstream page("docs/onnx.md");
  for (std::string line; std::getline(page, line);) {
    if (absl::StartsWith(line, start)) return line;
  }
  return "";
}

TEST(Operators, PageNamesThem) {
  for (const char* domain : {"ai.onnx", "ai.onnx.ml", "com.microsoft"}) {
    const std::string start = absl::StrCat("| `", domain, "` | ");
    EXPECT_EQ(LineOfPage(start),
              absl::StrCat(start, absl::StrJoin(OperatorNames(domain), " "), " |"));
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
