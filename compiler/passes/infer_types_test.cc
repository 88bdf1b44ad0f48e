// SPDX-License-Identifier: Apache-2.0
// The messages of the operators themselves are in compiler/ops/infer_test.cc.
#include <string>

#include "absl/strings/str_split.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

absl::StatusOr<Graph> Infer(const std::string& model) {
  const absl::StatusOr<Graph> graph =
      ParseRelay("#[version = \"0.0.5\"]\n" + model, "m.relay", FindOpSchema);
  if (!graph.ok()) return graph.status();
  return RunPass(InferTypes, *graph);
}

std::string Message(const std::string& model) {
  return std::string(Infer(model).status().message());
}

TEST(InferTypes, GivesEveryValueItsType) {
  const absl::StatusOr<Graph> graph = Infer(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = cast(%x, dtype="int8");
  split(%0, indices_or_sections=3, axis=1)
})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Verify(*graph, /*typed=*/true), absl::OkStatus());
  for (ValueId output : graph->outputs) {
    EXPECT_EQ(graph->type(output), (TensorType{{2, 1}, DType::Int(8)}));
  }
}

TEST(InferTypes, GivesTypesToTheBodiesOfGroups) {
  const absl::StatusOr<Graph> graph = Infer(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = fn (%p, Primitive=1) { exp(transpose(%p, axes=[1, 0])) };
  %0(%x)
})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(Verify(*graph, /*typed=*/true), absl::OkStatus());
  EXPECT_EQ(graph->type(graph->outputs[0]).shape, (Shape{3, 2}));
}

TEST(InferTypes, ParametersOfGroupsMustFit) {
  absl::StatusOr<Graph> graph = Infer(R"(
def @main(%x: Tensor[(4,), float32]) {
  %0 = fn (%p: Tensor[(4,), float32], Primitive=1) { exp(%p) };
  %0(%x)
})");
  ASSERT_TRUE(graph.ok()) << graph.status();
  graph->value(graph->inputs[0]).type = TensorType{{2, 3}, DType::Float(32)};
  const std::string message(RunPass(InferTypes, *graph).status().message());
  EXPECT_EQ(message,
            "m.relay:5:3: fn: parameter 'p': found Tensor[(2, 3), float32], wanted Tensor[(4,), "
            "float32]");
}

TEST(InferTypes, TypesThatTheModelStatesMustFit) {
  EXPECT_EQ(Message(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  let %y: Tensor[(3, 2), float32] = nn.relu(%x);
  %y
})"),
            "m.relay:4:37: nn.relu: output 0 is Tensor[(2, 3), float32], but the model says "
            "Tensor[(3, 2), float32]");
}

TEST(InferTypes, TellsAllErrorsAtOnceButNotTheirConsequences) {
  const std::string message = Message(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = transpose(%x, axes=[0, 0]);
  %1 = exp(%0);
  %2 = bitwise_not(%x);
  (%1, %2)
})");
  const std::vector<std::string> lines = absl::StrSplit(message, '\n');
  ASSERT_EQ(lines.size(), 2u) << message;
  EXPECT_EQ(lines[0].substr(0, 24), "m.relay:4:8: transpose: ");
  EXPECT_EQ(lines[1].substr(0, 26), "m.relay:6:8: bitwise_not: ");
}

TEST(InferTypes, StopsAfterManyErrors) {
  std::string model = "def @main(%x: Tensor[(2, 3), float32]) {\n";
  for (int i = 0; i < 30; ++i) model += "%" + std::to_string(i) + " = bitwise_not(%x);\n";
  model +=
      "(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
      "%19, %20, %21)\n}";
  const std::vector<std::string> lines = absl::StrSplit(Message(model), '\n');
  EXPECT_EQ(lines.size(), 20u);
}

TEST(InferTypes, RefusesTensorsBeyondTheLimits) {
  const absl::Status status =
      Infer("def @main(%x: Tensor[(65536, 65536), float32]) { concatenate((%x, %x, %x), axis=0) }")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
}

}  // namespace
}  // namespace kiln
