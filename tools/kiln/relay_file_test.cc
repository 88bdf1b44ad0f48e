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

TEST(RelayFile, NamesWhatQnnHasOtherwise) {
  const Graph graph = ParseRelay(
                          "#[version = \"0.0.5\"]\n"
                          "def @main(%x: Tensor[(1, 4), int8], %w: Tensor[(2, 4), int8]) {\n"
                          "  %0 = qnn.dense(%x, %w, 0.1f64, 1, 0.2f64, 2, units=2);\n"
                          "  qnn.add(%x, %x, 1f, 0, 1f, 0, 1f, 0, rounding=\"TFLITE\")\n}\n",
                          "model", FindOpSchema)
                          .value();
  const std::string text = RelayFile(graph);
  EXPECT_EQ(text.substr(0, text.find("def")),
            "#[version = \"0.0.5\"]\n// TVM 0.9 cannot read this text, since it does not have "
            "float64 scales, rounding of qnn.add, scales before zero points in "
            "qnn.dense.\n");
}

TEST(RelayFile, WritesAttributesWithoutADefaultInTvm) {
  const Graph graph = Parse(
      "  %0 = reshape(%x, newshape=[2, 2]);\n  %1 = transpose(%0);\n"
      "  %2 = strided_slice(%1, begin=[0], end=[1]);\n  %3 = nn.dense(%2, %0);\n"
      "  %4 = qnn.quantize(%3, 0.5f, 0);\n  (%4, nn.relu(%x))");
  const std::string text = RelayFile(graph);
  for (const char* const call :
       {"transpose(%0, axes=None)", "strided_slice(%1, begin=[0], end=[1], strides=[1], axes=None)",
        "nn.dense(%2, %0, units=None)", "qnn.quantize(%3, 0.5f, 0, out_dtype=\"int8\")"}) {
    EXPECT_NE(text.find(call), std::string::npos) << call << text;
  }
  // TVM does not accept tuples of unknown types.
  EXPECT_EQ(text.find("(_, _) {"), std::string::npos) << text;
  EXPECT_EQ(text.find("//"), std::string::npos) << text;
  EXPECT_TRUE(ParseRelay(text, "text", FindOpSchema).ok());
}

}  // namespace
}  // namespace kiln::tools
