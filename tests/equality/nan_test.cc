// SPDX-License-Identifier: Apache-2.0
// The maximum and minimum of numbers with a NaN are NaN, at any position of the NaN and with any
// vectorization. Softmax of a row with a NaN is NaN everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One row for each position of the NaN, and a last row without one. The other numbers go up and
// down.
constexpr int64_t kWidth = 33, kRows = kWidth + 1;
Tensor Rows() {
  std::vector<float> values;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t k = 0; k < kWidth; ++k) {
      values.push_back(k == row ? kNan : static_cast<float>((k * 7) % 31) - 15);
    }
  }
  return Tensor::From<float>({kRows, kWidth}, DType::Float(32), values);
}

struct NanCase {
  std::string text;  // argument of CaseOf
  std::vector<Tensor> inputs;
  std::function<bool(int64_t i)> is_nan;  // true if element i of the output is NaN
};

// Returns a function of %x, %y and %z, or fewer parameters if there are fewer inputs.
Case CaseOf(const std::string& body, const std::vector<Tensor>& inputs) {
  std::string params;
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::StrAppend(&params, i == 0 ? "%" : ", %", std::string(1, "xyz"[i]), ": ",
                    inputs[i].type().ToString());
  }
  const std::string text =
      absl::StrCat("#[version = \"0.0.5\"]\ndef @main(", params, ") {\n  ", body, "\n}\n");
  const absl::StatusOr<Graph> graph = ParseRelay(text, "nan.relay", FindOpSchema);
  EXPECT_TRUE(graph.ok()) << graph.status() << text;
  return {body, graph.value(), inputs};
}

void ExpectNans(const std::vector<NanCase>& rows) {
  std::vector<Case> cases;
  for (const NanCase& row : rows) cases.push_back(CaseOf(row.text, row.inputs));
  for (const bool naive : {false, true}) {
    const std::vector<Outputs> outputs =
        RunOnAllEngines(cases, {.target = Target::Host(), .naive = naive});
    ASSERT_EQ(outputs.size(), cases.size());
    for (size_t k = 0; k < cases.size(); ++k) {
      ASSERT_EQ(outputs[k].size(), 1) << cases[k].name;
      for (int64_t i = 0; i < outputs[k][0].type().num_elements(); ++i) {
        EXPECT_EQ(std::isnan(outputs[k][0].AsDouble(i)), rows[k].is_nan(i))
            << cases[k].name << ", element " << i;
      }
    }
  }
}

TEST(NanTest, OfReductions) {
  const auto below_last = [](int64_t row) { return row < kWidth; };
  std::vector<NanCase> rows;
  for (const char* op : {"max", "min"}) {
    rows.push_back({absl::StrCat(op, "(%x, axis=[1])"), {Rows()}, below_last});
    rows.push_back(
        {absl::StrCat(op, "(transpose(%x, axes=[1, 0]), axis=[0])"), {Rows()}, below_last});
    rows.push_back({absl::StrCat(op, "(%x)"), {Rows()}, [](int64_t) { return true; }});
  }
  for (const char* op : {"nn.softmax", "nn.log_softmax"}) {
    rows.push_back({absl::StrCat(op, "(%x, axis=1)"), {Rows()}, [](int64_t i) {
                      return i / kWidth < kWidth;
                    }});
  }
  rows.push_back({"max(%x)", {Tensor::From<float>({1}, DType::Float(32), {kNan})}, [](int64_t) {
                    return true;
                  }});
  ExpectNans(rows);
}

TEST(NanTest, OfOperands) {
  const Tensor x = Tensor::From<float>({4}, DType::Float(32), {kNan, 1, kNan, -kInfinity}),
               y = Tensor::From<float>({4}, DType::Float(32), {1, kNan, kNan, 2});
  const auto below_last = [](int64_t i) { return i < 3; };
  const auto of_x = [](int64_t i) { return i == 0 || i == 2; };
  const auto all = [](int64_t) { return true; };
  std::vector<NanCase> rows = {{"nn.relu(%x)", {x}, of_x},
                               {"clip(%x, a_min=0f, a_max=6f)", {x}, of_x}};
  for (const char* op : {"maximum", "minimum"}) {
    rows.push_back({absl::StrCat(op, "(%x, %y)"), {x, y}, below_last});
    rows.push_back({absl::StrCat(op, "(%x, 0f)"), {x}, of_x});
    rows.push_back({absl::StrCat(op, "(0f, %x)"), {x}, of_x});
    rows.push_back({absl::StrCat(op, "(%x, nanf)"), {x}, all});
    rows.push_back({absl::StrCat(op, "(nanf, %x)"), {x}, all});
  }
  ExpectNans(rows);
}

// One NaN in an image affects the windows that contain it.
TEST(NanTest, OfPools) {
  constexpr int64_t kExtent = 12, kChannels = 19, kRow = 5, kColumn = 6, kChannel = 17;
  const auto image = [](bool channels_last) {
    std::vector<float> values;
    const int64_t count = kExtent * kExtent * kChannels;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 11) % 97) - 48);
    const int64_t place = kRow * kExtent + kColumn;
    values[static_cast<size_t>(channels_last ? place * kChannels + kChannel
                                             : kChannel * kExtent * kExtent + place)] = kNan;
    const Shape shape = channels_last ? Shape{1, kExtent, kExtent, kChannels}
                                      : Shape{1, kChannels, kExtent, kExtent};
    return Tensor::From<float>(shape, DType::Float(32), values);
  };
  std::vector<NanCase> rows;
  for (const int64_t stride : {1, 2}) {
    const int64_t outs = (kExtent - 3) / stride + 1;
    const auto holds = [=](int64_t o, int64_t at) {
      return o * stride <= at && at < o * stride + 3;
    };
    for (const bool channels_last : {false, true}) {
      const auto is_nan = [=](int64_t i) {
        const int64_t channel = channels_last ? i % kChannels : i / (outs * outs),
                      place = channels_last ? i / kChannels : i % (outs * outs);
        return channel == kChannel && holds(place / outs, kRow) && holds(place % outs, kColumn);
      };
      rows.push_back({absl::StrCat("nn.max_pool2d(%x, pool_size=[3, 3], strides=[", stride, ", ",
                                   stride, "], layout=\"", channels_last ? "NHWC" : "NCHW", "\")"),
                      {image(channels_last)},
                      is_nan});
    }
  }
  for (const bool channels_last : {false, true}) {
    rows.push_back(
        {absl::StrCat("nn.global_max_pool2d(%x, layout=\"", channels_last ? "NHWC" : "NCHW", "\")"),
         {image(channels_last)},
         [](int64_t i) { return i == kChannel; }});
  }
  ExpectNans(rows);
}

TEST(NanTest, OfScatters) {
  const Tensor x = Tensor::From<float>({5}, DType::Float(32), {kNan, 1, 2, 3, 4}),
               to = Tensor::From<int64_t>({5}, DType::Int(64), {0, 1, 2, 2, 3}),
               updates = Tensor::From<float>({5}, DType::Float(32), {9, kNan, kNan, 9, -9});
  std::vector<NanCase> rows;
  for (const char* mode : {"max", "min"}) {
    rows.push_back({absl::StrCat("scatter_elements(%x, %y, %z, axis=0, reduction=\"", mode, "\")"),
                    {x, to, updates},
                    [](int64_t i) { return i < 3; }});
    rows.push_back(
        {absl::StrCat("scatter_nd(%x, reshape(%y, newshape=[1, 5]), %z, mode=\"", mode, "\")"),
         {x, to, updates},
         [](int64_t i) { return i < 3; }});
  }
  ExpectNans(rows);
}

// Each image has a NaN in its upper left quarter.
TEST(NanTest, OfWindowsAndRegions) {
  const Tensor x = Tensor::From<float>({1, 1, 4, 4}, DType::Float(32),
                                       {1, kNan, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4}),
               weight = Tensor::From<float>({1, 2, 2}, DType::Float(32), {1, 2, 3, 4}),
               region = Tensor::From<float>({1, 5}, DType::Float(32), {0, 0, 0, 4, 4});
  const auto first = [](int64_t i) { return i == 0; };
  ExpectNans({
      {"image.dilation2d(%x, %y, strides=[2, 2])", {x, weight}, first},
      {"vision.roi_align(%x, %y, pooled_size=[2, 2], spatial_scale=1f, sample_ratio=2, "
       "mode=\"max\")",
       {x, region},
       first},
      {"vision.roi_pool(%x, %y, pooled_size=[2, 2], spatial_scale=0.75f)", {x, region}, first},
  });
}

// The result is the index of the first NaN, as in NumPy.
TEST(NanTest, OfPlaces) {
  struct PlaceCase {
    std::string text;
    int64_t row_stride;  // difference of the indices between two rows
  };
  const std::vector<PlaceCase> ops = {
      {"argmax(%x, axis=[1])", 0},
      {"argmin(%x, axis=[1])", 0},
      {absl::StrCat("nn.max_pool_indices(reshape(%x, newshape=[", kRows, ", 1, ", kWidth,
                    "]), pool_size=[", kWidth, "], strides=[1], dilation=[1], padding=[0])"),
       kWidth}};
  std::vector<Case> cases;
  for (const PlaceCase& op : ops) cases.push_back(CaseOf(op.text, {Rows()}));
  const std::vector<Outputs> outputs = RunOnAllEngines(cases, {.target = Target::Host()});
  ASSERT_EQ(outputs.size(), cases.size());
  for (size_t k = 0; k < cases.size(); ++k) {
    ASSERT_EQ(outputs[k].size(), 1) << cases[k].name;
    for (int64_t row = 0; row < kWidth; ++row) {
      EXPECT_EQ(outputs[k][0].AsInt(row), row * ops[k].row_stride + row) << cases[k].name;
    }
  }
}

}  // namespace
}  // namespace kiln::equality
