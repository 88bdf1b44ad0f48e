// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/passes/testing/run_pass.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr double kTolerance = 1e-4;

// A compilation for a CPU with an L2 cache of 1000 floats and vectors of 16 floats.
struct Compilation {
  std::string target = "x86-64-v4";
  int64_t l2_bytes = 4000;
  bool by_c_compiler = false;
  bool for_size = false;
  bool has_external = false;
  int64_t constant_bytes = 0;
};

// The body after the pass, which must give the same results.
std::string Kept(const Graph& before, const Compilation& compilation = {}) {
  Target target = Target::Parse(compilation.target).value();
  target.l2_bytes = compilation.l2_bytes;
  target.by_c_compiler = compilation.by_c_compiler;
  PassContext context = {.target = target, .evaluate = RunGraph};
  context.for_size = compilation.for_size;
  if (compilation.has_external) context.partition = [](const Graph& graph) { return graph; };
  if (compilation.constant_bytes > 0) context.constant_bytes = compilation.constant_bytes;
  const absl::StatusOr<Graph> after = KeepByteWeights(before, context);
  if (!after.ok()) return after.status().ToString();
  EXPECT_EQ(Verify(*after, /*typed=*/true), absl::OkStatus());
  const Tensor expected = RunGraph(before).value()[0], found = RunGraph(*after).value()[0];
  EXPECT_EQ(found.type(), expected.type());
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    EXPECT_NEAR(found.AsDouble(i), expected.AsDouble(i),
                kTolerance * (1 + std::abs(expected.AsDouble(i))));
  }
  return BodyText(*after);
}

// `rows` rows of 32 floats times 32 columns. All values of a byte occur in the weight.
Graph Dense(int64_t rows, const std::string& dtype = "int8", const std::string& zero_point = "0",
            const std::string& attrs = ", axis=0") {
  Graph graph = ParseModel(absl::StrCat("def @main(%x: Tensor[(", rows,
                                        ", 32), float32], %constant_w: Tensor[(32, 32), ", dtype,
                                        "], %constant_s: Tensor[(32,), float32]) {\n"
                                        "  %0 = qnn.dequantize(%constant_w, %constant_s, ",
                                        zero_point, attrs, ");\n  nn.dense(%x, %0, units=32)\n}"));
  for (Value& value : graph.values) {
    if (value.kind != ValueKind::kConstant || value.type->shape != Shape{32, 32}) continue;
    std::string bytes;
    for (int i = 0; i < 32 * 32; ++i) bytes += static_cast<char>(i * 89);
    value.constant = Tensor(*value.type, bytes);
  }
  return graph;
}

constexpr char kBytes[] =
    "%0 = nn.dense(%x, meta[relay.Constant][0], units=32, out_dtype=\"float32\");\n"
    "multiply(%0, meta[relay.Constant][1])\n";

constexpr char kFloats[] =
    "%0 = qnn.dequantize(meta[relay.Constant][0], meta[relay.Constant][1], 0, axis=0);\n"
    "nn.dense(%x, %0, units=32)\n";

TEST(KeepByteWeights, OfProductsOfFewRows) {
  EXPECT_EQ(Kept(Dense(1)), kBytes);
  EXPECT_EQ(Kept(Dense(10)), kBytes);
  EXPECT_EQ(Kept(Dense(11)), kFloats);
  EXPECT_EQ(Kept(Dense(4), {.target = "x86-64-v3"}), kBytes);
  EXPECT_EQ(Kept(Dense(5), {.target = "x86-64-v3"}), kFloats);
  EXPECT_EQ(Kept(Dense(1), {.target = "x86-64-v2"}), kBytes);
  EXPECT_EQ(Kept(Dense(2), {.target = "x86-64-v2"}), kFloats);
}

TEST(KeepByteWeights, NotOfModelsThatTheL2CacheKeeps) {
  EXPECT_EQ(Kept(Dense(1), {.l2_bytes = 4096}), kFloats);
  EXPECT_EQ(Kept(Dense(1), {.l2_bytes = 8192, .constant_bytes = 8192}), kBytes);
  EXPECT_EQ(Kept(Dense(1), {.l2_bytes = 8192, .constant_bytes = 5000}), kFloats);
}

TEST(KeepByteWeights, CountAWeightOnce) {
  const std::string model = R"(
def @main(%x: Tensor[(1, 32), float32], %constant_w: Tensor[(32, 32), int8]) {
  %0 = qnn.dequantize(%constant_w, 0.5f, 0, axis=0);
  %1 = nn.dense(%x, %0, units=32);
  nn.dense(%1, %0, units=32)
})";
  const Graph graph = ParseModel(model);
  EXPECT_EQ(Kept(graph, {.l2_bytes = 4096}), BodyText(graph));
  EXPECT_NE(Kept(graph, {.l2_bytes = 4095}), BodyText(graph));
}

TEST(KeepByteWeights, NotWhereVectorsAreNotWidened) {
  EXPECT_EQ(Kept(Dense(1), {.target = "x86-64"}), kFloats);
  EXPECT_EQ(Kept(Dense(1), {.target = "aarch64"}), kFloats);
  EXPECT_EQ(Kept(Dense(1), {.by_c_compiler = true}), kFloats);
  EXPECT_EQ(Kept(Dense(1), {.target = "cortex-m4f"}), kFloats);
}

TEST(KeepByteWeights, OfAllProductsForSize) {
  EXPECT_EQ(Kept(Dense(20), {.for_size = true}), kBytes);
  EXPECT_EQ(Kept(Dense(1), {.target = "cortex-m4f", .l2_bytes = 1 << 20, .for_size = true}),
            kBytes);
  EXPECT_EQ(Kept(Dense(1), {.target = "x86-64", .by_c_compiler = true, .for_size = true}), kBytes);
}

TEST(KeepByteWeights, NotBesideExternalCodeGenerators) {
  EXPECT_EQ(Kept(Dense(1), {.for_size = true, .has_external = true}), kFloats);
}

TEST(KeepByteWeights, TakeAZeroPointThatFits) {
  // All numbers of uint8 minus 128 fit int8.
  EXPECT_EQ(Kept(Dense(1, "uint8", "128")), kBytes);
}

TEST(KeepByteWeights, AddTheRestOfAZeroPoint) {
  const std::string with_rest =
      "%0 = nn.dense(%x, meta[relay.Constant][0], units=32, out_dtype=\"float32\");\n"
      "%1 = multiply(%0, meta[relay.Constant][1]);\n"
      "%2 = sum(%x, axis=[-1], keepdims=True);\n"
      "%3 = multiply(%2, meta[relay.Constant][2]);\n"
      "add(%1, %3)\n";
  EXPECT_EQ(Kept(Dense(2, "uint8", "117")), with_rest);
  EXPECT_EQ(Kept(Dense(2, "int8", "-100")), with_rest);
}

TEST(KeepByteWeights, ReadATransposedWeight) {
  const std::string model = R"(
def @main(%x: Tensor[(2, 3, 33), float32], %constant_w: Tensor[(33, 32), int8], %constant_s: Tensor[(32,), float32]) {
  %0 = transpose(%constant_w, axes=[1, 0]);
  %1 = qnn.dequantize(%0, %constant_s, 5, axis=0);
  nn.dense(%x, %1, units=32)
})";
  EXPECT_EQ(Kept(ParseModel(model)), kBytes);
}

TEST(KeepByteWeights, RoundScalesToFloat32) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(32,), float32], %constant_w: Tensor[(32, 32), int8]) {
  %0 = qnn.dequantize(%constant_w, 0.3f64, 0);
  nn.dense(%x, %0)
})");
  EXPECT_EQ(Kept(graph),
            "%0 = nn.dense(%x, meta[relay.Constant][0], out_dtype=\"float32\");\n"
            "multiply(%0, 0.3f)\n");
}

TEST(KeepByteWeights, LeaveOtherWeights) {
  // Scales along the axis of the sum.
  EXPECT_EQ(Kept(Dense(1, "int8", "0", ", axis=1"), {.for_size = true}),
            "%0 = qnn.dequantize(meta[relay.Constant][0], meta[relay.Constant][1], 0, axis=1);\n"
            "nn.dense(%x, %0, units=32)\n");
  // Integers of 16 bits, few elements, and a weight that is computed.
  for (const auto& [weight, name] :
       {std::pair<std::string, std::string>{"(32, 32), int16", "constant_w"},
        {"(31, 33), int8", "constant_w"},
        {"(32, 32), int8", "w"}}) {
    const std::string columns = weight.substr(5, 2);
    const Graph graph = ParseModel(absl::StrCat(
        "def @main(%x: Tensor[(1, ", columns, "), float32], %", name, ": Tensor[", weight,
        "]) {\n  %0 = qnn.dequantize(%", name, ", 0.5f, 0, axis=0);\n  nn.dense(%x, %0)\n}"));
    EXPECT_EQ(Kept(graph, {.for_size = true}), BodyText(graph)) << weight << " " << name;
  }
}

}  // namespace
}  // namespace kiln
