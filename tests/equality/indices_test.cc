// SPDX-License-Identifier: Apache-2.0
// Operators that read or write at positions given by data. No index, however large, leads outside a
// tensor, and every engine uses the same element for it. The interpreter checks each access.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kBeyond32 = int64_t{1} << 32;

struct Access {
  const char* text;  // body of a function of %x and %i, and of %u if there is a third input
  std::vector<Tensor> inputs;
  std::vector<float> expected;
};

Tensor Floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::From<float>(shape, DType::Float(32), values);
}
Tensor Int64s(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::From<int64_t>(shape, DType::Int(64), values);
}

void ExpectOnAllEngines(const std::vector<Access>& accesses) {
  std::vector<Case> cases;
  for (const Access& access : accesses) {
    const std::vector<std::string> names = {"x", "i", "u"};
    std::string params;
    for (size_t i = 0; i < access.inputs.size(); ++i) {
      absl::StrAppend(&params, i == 0 ? "%" : ", %", names[i], ": ",
                      access.inputs[i].type().ToString());
    }
    const std::string text =
        absl::StrCat("#[version = \"0.0.5\"]\ndef @main(", params, ") {\n  ", access.text, "\n}\n");
    const absl::StatusOr<Graph> graph = ParseRelay(text, "index.relay", FindOpSchema);
    ASSERT_TRUE(graph.ok()) << graph.status() << text;
    cases.push_back({access.text, *graph, access.inputs});
  }
  const std::vector<Outputs> outputs =
      RunOnAllEngines(cases, {.target = Target::Parse("host").value()});
  ASSERT_EQ(outputs.size(), accesses.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(outputs[i].size(), 1) << cases[i].name;
    const Tensor& found = outputs[i][0];
    ASSERT_EQ(found.type().num_elements(), accesses[i].expected.size()) << cases[i].name;
    for (int64_t e = 0; e < found.type().num_elements(); ++e) {
      EXPECT_EQ(found.AsDouble(e), accesses[i].expected[static_cast<size_t>(e)])
          << cases[i].name << ", element " << e;
    }
  }
}

const Tensor kX = Floats({4}, {1, 2, 3, 4});
const Tensor kFar = Int64s({8}, {kMin64, -kBeyond32, -5, -1, 4, 5, kBeyond32 + 1, kMax64});

TEST(Indices, OfReadsEndAtTheNearestElement) {
  const std::vector<float> nearest = {1, 1, 1, 1, 4, 4, 4, 4}, from_ends = {1, 1, 1, 4, 4, 4, 4, 4};
  ExpectOnAllEngines({
      {"take(%x, %i, axis=0)", {kX, kFar}, nearest},
      {"take(%x, %i, axis=0, mode=\"fast\")", {kX, kFar}, nearest},
      {"take(%x, %i)", {kX, kFar}, nearest},
      {"take(%x, %i, axis=0, mode=\"wrap\")", {kX, kFar}, {1, 1, 4, 4, 1, 2, 2, 4}},
      {"take(%x, %i, axis=0)",
       {kX, Tensor::From<int32_t>({4}, DType::Int(32), {kMin32, -1, 4, kMax32})},
       {1, 1, 4, 4}},
      {"take(%x, %i, axis=0)",
       {kX, Tensor::From<uint64_t>({3}, DType::UInt(64), {3, 4, ~uint64_t{0}})},
       {4, 4, 4}},
      {"gather(%x, %i, axis=0)", {kX, kFar}, from_ends},
      {"gather(%x, %i, axis=0)",
       {kX, Tensor::From<uint64_t>({2}, DType::UInt(64), {4, ~uint64_t{0}})},
       {4, 4}},
      {"gather_nd(%x, reshape(%i, newshape=[1, 8]))", {kX, kFar}, from_ends},
      {"one_hot(%x, 1f, 0f, depth=2, axis=-1, dtype=\"float32\")",
       {Int64s({4}, {kMin64, 1, 2, kMax64})},
       {0, 0, 0, 1, 0, 0, 0, 0}},
  });
}

TEST(Indices, OfWritesEndAtTheNearestElement) {
  const Tensor updates = Floats({8}, {1, 10, 100, 1000, 1, 10, 100, 1000});
  const std::vector<float> added = {112, 2, 3, 2115};
  const Tensor two = Int64s({2}, {kMin64, kMax64}), to_two = Floats({2}, {8, 9});
  ExpectOnAllEngines({
      {"scatter_elements(%x, %i, %u, axis=0, reduction=\"add\")", {kX, kFar, updates}, added},
      {"scatter_nd(%x, reshape(%i, newshape=[1, 8]), %u, mode=\"add\")",
       {kX, kFar, updates},
       added},
      {"scatter_elements(%x, %i, %u, axis=0)", {kX, two, to_two}, {8, 2, 3, 9}},
      {"scatter_nd(%x, reshape(%i, newshape=[1, 2]), %u, mode=\"update\")",
       {kX, two, to_two},
       {8, 2, 3, 9}},
  });
}

TEST(Indices, OfLengthsAndImagesAreBounded) {
  const Tensor rows = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor images = Floats({2, 1, 1, 1}, {1, 2});
  const Tensor regions = Floats(
      {4, 5}, {kInfinity, 0, 0, 1, 1, -kInfinity, 0, 0, 1, 1, 1e30f, 0, 0, 1, 1, NAN, 0, 0, 1, 1});
  ExpectOnAllEngines({
      {"reverse_sequence(%x, %i, seq_axis=1, batch_axis=0)",
       {rows, Int64s({2}, {kMin64, kMax64})},
       {1, 2, 3, 6, 5, 4}},
      {"sequence_mask(%x, %i, axis=1)", {rows, Int64s({2}, {kMin64, kMax64})}, {0, 0, 0, 4, 5, 6}},
      {"vision.roi_pool(%x, %i, pooled_size=[1, 1], spatial_scale=1f)",
       {images, regions},
       {2, 1, 2, 1}},
  });
}

}  // namespace
}  // namespace kiln::equality
