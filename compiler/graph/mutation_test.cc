// SPDX-License-Identifier: Apache-2.0
// For arbitrary bytes, the parser returns a graph that verifies or an error with the position, and
// does not crash.
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/graph/test_ops.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr char kText[] = R"(#[version = "0.0.5"]
/* a /* nested */ comment */
def @main(%x: (Tensor[(1, 3), float32], int8), %/b: Tensor[(4), int8], name="a\"\x41", input_names=["u", "v", "w"]) -> (float32, _) {
  %0 = nn.conv2d(%x.0, meta[relay.Constant][0], padding=[1, 1], channels=4, out_dtype="int32") /* ty=Tensor[(1, 4), float32] */;
  let %y: Tensor[(4,), int8] = split(%0, indices_or_sections=[1, 2]).1; // comment
  %1 = fn (%p0: Tensor[(4), int8], Primitive=1) -> Tensor[(4), int8] { %0 = %p0 + 1f64; concatenate((%0, %p0)) };
  let %z = if (True) { @f(%1(%y), 2.5f) } else { -1 };
  (%z / 3 * -inff, nn.batch_norm(%0, 1, 2i64, 1e-05f, nanf, epsilon=0.001f).2)
}
def @f(%a, %b: float32, Inline=1) { less(%a, %b) }

)";

// Returns the text with a metadata section that contains one constant.
std::string ValidText() {
  Graph graph;
  graph.outputs = {graph.AddConstant(Tensor::From<int8_t>({2}, DType::Int(8), {1, 2}))};
  const std::string print = PrintRelay(graph);
  return absl::StrCat(kText, print.substr(print.find("#[metadata]")));
}

void Check(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseRelay(text, "t.relay", FindTestOp);
  if (!graph.ok()) {
    ASSERT_TRUE(absl::StartsWith(graph.status().message(), "t.relay:")) << graph.status();
    return;
  }
  ASSERT_EQ(Verify(*graph, /*typed=*/false), absl::OkStatus()) << text;
  const std::string print = PrintRelay(*graph);
  absl::StatusOr<Graph> again = ParseRelay(print, "print", FindTestOp);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << print;
  ASSERT_TRUE(*again == *graph) << text << "\n" << print;
}

TEST(Mutation, TheTextItselfIsRead) {
  absl::StatusOr<Graph> graph = ParseRelay(ValidText(), "t.relay", FindTestOp);
  EXPECT_TRUE(graph.ok()) << graph.status();
}

TEST(Mutation, CutOffAtEveryByte) {
  const std::string text = ValidText();
  for (size_t i = 0; i < text.size(); ++i) {
    Check(text.substr(0, i));
    Check(absl::StrCat(text.substr(0, i), text.substr(i + 1)));
  }
}

TEST(Mutation, EveryByteReplaced) {
  const std::string text = ValidText();
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'(', ')', '[', '{', '"', '%', '0', '9', '.', ',', '-', '/', '*', '=', 'f', '_',
                   ' ', '\0', '\xff'}) {
      std::string mutated = text;
      mutated[i] = c;
      Check(mutated);
    }
  }
}

TEST(Mutation, PiecesMoved) {
  const std::string text = ValidText();
  std::mt19937_64 random(1);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int i = 0; i < 20000; ++i) {
    std::string mutated = text;
    for (size_t k = 1 + below(4); k > 0; --k) {
      const size_t from = below(text.size());
      const size_t length = below(20);
      mutated.replace(below(mutated.size()), below(4) == 0 ? 0 : below(12),
                      text.substr(from, length));
    }
    Check(mutated);
  }
}

}  // namespace
}  // namespace kiln
