// SPDX-License-Identifier: Apache-2.0
// Passes and the lowering query the traits of operators (compiler/ops/traits.h) and add the
// operators that they need by compiler/ops/make.h. The names that remain belong to operators that a
// pass is about. They are listed here with the reason.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/ops/op_def.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using Names = std::map<std::string, std::vector<std::string>>;  // by file

// The string literals of a source, except literals in comments.
std::vector<std::string> Literals(const std::string& source) {
  std::vector<std::string> literals;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
    } else if (source[i] == '\'') {
      i = source.find('\'', i + (source[i + 1] == '\\' ? 3 : 1));
      if (i == std::string::npos) break;
    } else if (source[i] == '"') {
      std::string text;
      for (++i; i < source.size() && source[i] != '"'; ++i) {
        if (source[i] == '\\') ++i;
        text += source[i];
      }
      literals.push_back(text);
    }
  }
  return literals;
}

// True if the text is the name of an operator, or a prefix or suffix of such names.
bool IsName(const std::string& text) {
  if (FindOp(text) != nullptr) return true;
  for (const char* part : {"nn.", "qnn.", "image.", "vision.", "_pool2d", "conv2d"}) {
    if (absl::StartsWith(text, part) || (text == part)) return true;
  }
  return false;
}

Names NamesIn(const std::string& folder) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const bool is_source = absl::EndsWith(path, ".cc") || absl::EndsWith(path, ".h");
    if (!is_source || absl::EndsWith(path, "_test.cc")) continue;
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << path;
    for (const std::string& literal : Literals(text.str())) {
      if (IsName(literal)) names[path].push_back(literal);
    }
  }
  return names;
}

TEST(OperatorNames, AreFoundInSources) {
  EXPECT_EQ(Literals("f(\"a\", 'b', '\"'); // \"c\"\n#x \"d\\\"e\""),
            (std::vector<std::string>{"a", "d\"e"}));
  EXPECT_TRUE(IsName("reshape"));
  EXPECT_TRUE(IsName("nn.conv"));
  EXPECT_FALSE(IsName("shape"));
}

TEST(OperatorNames, InPassesAreThoseThatAPassIsAbout) {
  const Names expected = {
      // It adds the check, and recognizes the pattern by which exporters count
      // negative indices from the end.
      {"compiler/passes/check_indices.cc", {"check_indices", "where", "less", "add"}},
      // It rewrites operators between quantize and dequantize, and replaces both by requantize.
      {"compiler/passes/integer_products.cc", {"qnn.quantize", "qnn.dequantize", "qnn.requantize"}},
      // It takes the weights that dequantize reads, and adds the rest of a zero point.
      {"compiler/passes/keep_byte_weights.cc", {"qnn.dequantize", "sum", "add"}},
      // The pass has the name of an operator that it does not use. It joins strips.
      {"compiler/passes/pass.cc", {"split"}},
      {"compiler/passes/split_rows.cc", {"concatenate", "full"}},
  };
  EXPECT_EQ(NamesIn("compiler/passes"), expected);
}

TEST(OperatorNames, InTheLoweringThereAreNone) { EXPECT_EQ(NamesIn("compiler/lower"), Names()); }

}  // namespace
}  // namespace kiln
