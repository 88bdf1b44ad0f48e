// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/state.h"
#include "compiler/passes/testing/run_pass.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// The body of a model whose input "s" and second output are its state.
std::string Widened(const std::string& model, bool keeps_state = true) {
  Graph graph = ParseModel(model);
  AddState("s", "output1", 7, graph);
  const Target target = Target::Parse("cortex-m4f").value();
  const absl::StatusOr<Graph> widened =
      WidenStates(graph, {.target = target, .evaluate = nullptr, .keeps_state = keeps_state});
  EXPECT_TRUE(widened.ok()) << widened.status();
  if (!widened.ok()) return "";
  EXPECT_TRUE(Verify(*widened, /*typed=*/true).ok()) << BodyText(*widened);
  EXPECT_TRUE(widened->attrs == graph.attrs);
  return widened->type(widened->inputs[1]).ToString() + "\n" + BodyText(*widened);
}

constexpr char kWindow[] = R"(
def @main(%x: Tensor[(1, 2, 3), float32], %s: Tensor[(1, 4, 3), float32]) {
  %0 = concatenate((%s, %x), axis=-2);
  %1 = strided_slice(%0, begin=[0, -4, 0], end=[1, 6, 3], strides=[1, 1, 1]);
  (nn.relu(%0), %1)
})";

TEST(WidenStates, TheEndOfAWindowIsKeptAsTheWindow) {
  EXPECT_EQ(Widened(kWindow),
            "Tensor[(1, 6, 3), float32]\n"
            "%0 = strided_slice(%s, begin=[2], end=[6], axes=[1]);\n"
            "%1 = concatenate((%0, %x), axis=-2);\n"
            "%2 = nn.relu(%1);\n"
            "(%2, %1)\n");
}

TEST(WidenStates, AStepMayBeAsLongAsTheState) {
  EXPECT_EQ(Widened(R"(
def @main(%x: Tensor[(1, 5), int8], %s: Tensor[(1, 2), int8]) {
  %0 = concatenate((%s, %x), axis=1);
  (%0, strided_slice(%0, begin=[5], end=[7], axes=[1]))
})"),
            "Tensor[(1, 7), int8]\n"
            "%0 = strided_slice(%s, begin=[5], end=[7], axes=[1]);\n"
            "%1 = concatenate((%0, %x), axis=1);\n"
            "(%1, %1)\n");
}

TEST(WidenStates, PackedFunctionsKeepNoState) {
  EXPECT_EQ(Widened(kWindow, /*keeps_state=*/false),
            "Tensor[(1, 4, 3), float32]\n" + BodyText(ParseModel(kWindow)));
}

TEST(WidenStates, OtherStatesStayAsTheyAre) {
  for (const char* body : {
           // The beginning, not the end.
           "%0 = concatenate((%s, %x), axis=1);\n"
           "%1 = strided_slice(%0, begin=[0], end=[4], axes=[1]);\n"
           "(%0, %1)\n",
           // The state comes second.
           "%0 = concatenate((%x, %s), axis=1);\n"
           "%1 = strided_slice(%0, begin=[2], end=[6], axes=[1]);\n"
           "(%0, %1)\n",
           // Every other place.
           "%0 = concatenate((%s, %x, %x), axis=1);\n"
           "%1 = strided_slice(%0, begin=[0], end=[8], strides=[2], axes=[1]);\n"
           "(%0, %1)\n",
           // A part of another value than the window.
           "%0 = concatenate((%s, %x), axis=1);\n"
           "%1 = nn.relu(%0);\n"
           "%2 = strided_slice(%1, begin=[2], end=[6], axes=[1]);\n"
           "(%0, %2)\n",
           "%0 = nn.relu(%s);\n"
           "(%x, %0)\n",
       }) {
    const std::string model =
        std::string(
            "\ndef @main(%x: Tensor[(1, 2, 3), float32], %s: Tensor[(1, 4, 3), "
            "float32]) {\n") +
        body + "}";
    EXPECT_EQ(Widened(model), "Tensor[(1, 4, 3), float32]\n" + BodyText(ParseModel(model)));
  }
}

}  // namespace
}  // namespace kiln
