// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/relay_file.h"

#include <string>

#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "gtest/gtest.h"

namespace kiln::tools {
namespace {

Graph Parse(const std::string& body) {
  return ParseRelay(
             "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4,), float32]) {\n" + body + "\n}\n",
             "model", FindOpSchema)
      .value();
}

TEST(RelayFile, SaysWhatTvmDoesNotHave) {
  const Graph graph = Parse(
      "  %0 = qnn.quantize(%x, 0.5f, 0, rounding=\"EVEN\");\n"
      "  %1 = qnn.divide(%0, %0, 1f, 0, 1f, 0, 1f, 0);\n  qnn.softmax(%1, 1f, 0, 1f, 0)");
  const std::string text = RelayFile(graph);
  EXPECT_EQ(text.substr(0, text.find("def")),
            "#[version = \"0.0.5\"]\n// TVM 0.9 cannot read this text, since it does not have "
            "qnn.divide, qnn.softmax, rounding of qnn.quantize.\n");
  EXPECT_TRUE(ParseRelay(text, "text", FindOpSchema).value() == graph);
}

TEST(RelayFile, IsThePlainTextOfOtherModels) {
  const Graph graph = Parse("  %0 = qnn.quantize(%x, 0.5f, 0);\n  (%0, nn.relu(%x))");
  const std::string text = RelayFile(graph);
  EXPECT_EQ(text, PrintRelay(graph));
  // TVM takes neither a tuple of unknown types nor a quantisation without its type.
  EXPECT_EQ(text.find("(_, _) {"), std::string::npos) << text;
  EXPECT_NE(text.find("qnn.quantize(%x, 0.5f, 0, out_dtype=\"int8\")"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::tools
