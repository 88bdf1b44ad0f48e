// SPDX-License-Identifier: Apache-2.0
// Operators with windows, products, norms and moves, compared with plain loops that do not use
// stages.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/ops/example.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

// A tensor of doubles, read with signed indices; 0 outside of it.
struct Array {
  Shape shape;
  std::vector<double> data;

  explicit Array(Shape s) : shape(std::move(s)), data(static_cast<size_t>(NumElements(shape))) {}
  explicit Array(const Tensor& tensor) : Array(tensor.type().shape) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = tensor.AsDouble(static_cast<int64_t>(i));
  }
  bool Holds(const std::vector<int64_t>& index) const {
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape[d]) return false;
    }
    return true;
  }
  size_t Offset(const std::vector<int64_t>& index) const {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset = offset * shape[d] + index[d];
    return static_cast<size_t>(offset);
  }
  double operator()(const std::vector<int64_t>& index) const {
    return Holds(index) ? data[Offset(index)] : 0;
  }
  double& at(const std::vector<int64_t>& index) { return data[Offset(index)]; }
};

// A tensor with its dimensions reordered: result dimension d is dimension order[d].
Array Reordered(const Array& a, const std::vector<size_t>& order) {
  Shape shape;
  for (size_t d : order) shape.push_back(a.shape[d]);
  Array result(shape);
  std::vector<int64_t> i(shape.size()), from(shape.size());
  for (size_t n = 0; n < result.data.size(); ++n) {
    size_t rest = n;
    for (size_t d = shape.size(); d-- > 0; rest /= static_cast<size_t>(shape[d])) {
      i[d] = static_cast<int64_t>(rest % static_cast<size_t>(shape[d]));
    }
    for (size_t d = 0; d < shape.size(); ++d) from[order[d]] = i[d];
    result.data[n] = a(from);
  }
  return result;
}

std::vector<size_t> OrderOf(const std::string& to, const std::string& from) {
  std::vector<size_t> order;
  for (char letter : to) order.push_back(from.find(letter));
  return order;
}

Tensor ResultOf(const std::string& name, const Attrs& attrs, const std::vector<Tensor>& inputs) {
  absl::StatusOr<std::vector<Tensor>> outputs = RunOp(*FindOp(name), attrs, inputs);
  EXPECT_TRUE(outputs.ok()) << name << ": " << outputs.status();
  return outputs.ok() ? (*outputs)[0] : Tensor();
}

void ExpectSame(const Array& expected, const Tensor& found) {
  ASSERT_EQ(expected.shape, found.type().shape);
  for (size_t i = 0; i < expected.data.size(); ++i) {
    ASSERT_NEAR(expected.data[i], found.AsDouble(static_cast<int64_t>(i)),
                2e-5 * (1 + std::abs(expected.data[i])))
        << "element " << i;
  }
}

struct ConvCase {
  std::string data_layout = "NCHW", kernel_layout = "OIHW";
  int64_t n = 1, c = 3, h = 6, w = 5, o = 4, kh = 3, kw = 2, groups = 1;
  std::vector<int64_t> strides = {1, 1}, padding = {0, 0, 0, 0}, dilation = {1, 1},
                       output_padding = {0, 0};
};

Attrs ConvAttrs(const ConvCase& k) {
  return {{"data_layout", k.data_layout}, {"kernel_layout", k.kernel_layout},
          {"groups", k.groups},           {"strides", List(k.strides)},
          {"padding", List(k.padding)},   {"dilation", List(k.dilation)}};
}

// `data` is NCHW, `weight` is OIHW.
Array ReferenceConv(const ConvCase& k, const Array& data, const Array& weight) {
  const int64_t oh =
      (k.h + k.padding[0] + k.padding[2] - (k.kh - 1) * k.dilation[0] - 1) / k.strides[0] + 1;
  const int64_t ow =
      (k.w + k.padding[1] + k.padding[3] - (k.kw - 1) * k.dilation[1] - 1) / k.strides[1] + 1;
  const int64_t ig = k.c / k.groups, og = k.o / k.groups;
  Array out({k.n, k.o, oh, ow});
  for (int64_t n = 0; n < k.n; ++n)
    for (int64_t o = 0; o < k.o; ++o)
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t x = 0; x < ow; ++x)
          for (int64_t i = 0; i < ig; ++i)
            for (int64_t r = 0; r < k.kh; ++r)
              for (int64_t s = 0; s < k.kw; ++s)
                out.at({n, o, y, x}) +=
                    data({n, o / og * ig + i, y * k.strides[0] - k.padding[0] + r * k.dilation[0],
                          x * k.strides[1] - k.padding[1] + s * k.dilation[1]}) *
                    weight({o, i, r, s});
  return out;
}

TEST(Conv2d, EqualsPlainLoops) {
  std::vector<ConvCase> cases;
  for (const char* data_layout : {"NCHW", "NHWC"}) {
    for (const char* kernel_layout : {"OIHW", "HWIO", "OHWI", "HWOI"}) {
      const ConvCase base{.data_layout = data_layout, .kernel_layout = kernel_layout};
      ConvCase padded = base, strided = base, grouped = base, depthwise = base, multiplier = base,
               one = base;
      padded.padding = {1, 2, 0, 1};
      padded.n = 2;
      strided.strides = {2, 3};
      strided.dilation = {2, 1};
      strided.padding = {2, 1, 1, 0};
      grouped.c = 4, grouped.o = 6, grouped.groups = 2, grouped.padding = {1, 1, 1, 1};
      depthwise.c = depthwise.o = depthwise.groups = 5;
      multiplier.c = multiplier.groups = 3, multiplier.o = 6, multiplier.dilation = {1, 2};
      one.kh = one.kw = 1;
      cases.insert(cases.end(), {base, padded, strided, grouped, depthwise, multiplier, one});
    }
  }
  for (size_t n = 0; n < cases.size(); ++n) {
    SCOPED_TRACE(absl::StrCat("case ", n));
    const ConvCase& k = cases[n];
    const Array data_type =
        Reordered(Array(Shape{k.n, k.c, k.h, k.w}), OrderOf(k.data_layout, "NCHW"));
    const Array weight_type =
        Reordered(Array(Shape{k.o, k.c / k.groups, k.kh, k.kw}), OrderOf(k.kernel_layout, "OIHW"));
    const Tensor data = RandomTensor(F32(data_type.shape), n),
                 weight = RandomTensor(F32(weight_type.shape), n + 100);
    const Array expected =
        ReferenceConv(k, Reordered(Array(data), OrderOf("NCHW", k.data_layout)),
                      Reordered(Array(weight), OrderOf("OIHW", k.kernel_layout)));
    ExpectSame(Reordered(expected, OrderOf(k.data_layout, "NCHW")),
               ResultOf("nn.conv2d", ConvAttrs(k), {data, weight}));
  }
}

TEST(Conv2d, TakesAMultiplierInI) {
  ConvCase k{.data_layout = "NHWC", .kernel_layout = "HWOI", .c = 3, .o = 6, .groups = 3};
  const Tensor data = RandomTensor(F32({1, 6, 5, 3}), 1),
               weight = RandomTensor(F32({3, 2, 3, 2}), 2);
  // (kh, kw, c, m) are the elements of (kh, kw, c * m, 1).
  const Tensor plain(F32({3, 2, 6, 1}), weight.bytes());
  EXPECT_EQ(ResultOf("nn.conv2d", ConvAttrs(k), {data, weight}),
            ResultOf("nn.conv2d", ConvAttrs(k), {data, plain}));
}

TEST(Conv2d, WidensIntegersBeforeMultiplying) {
  const Tensor data = Values(I8({1, 2, 1, 1}), {-128, 127}),
               weight = Values(I8({1, 2, 1, 1}), {-128, -128});
  EXPECT_EQ(ResultOf("nn.conv2d", {{"out_dtype", "int32"}}, {data, weight}),
            Values(I32({1, 1, 1, 1}), {128 * 128 - 127 * 128}));
  const Tensor unsigned_data = Values(U8({1, 2, 1, 1}), {255, 1});
  EXPECT_EQ(ResultOf("nn.conv2d", {{"out_dtype", "int32"}}, {unsigned_data, weight}),
            Values(I32({1, 1, 1, 1}), {-256 * 128}));
}

TEST(Conv2dTranspose, EqualsPlainLoops) {
  std::vector<ConvCase> cases(5);
  cases[1] = {.strides = {2, 3}, .padding = {1, 0, 0, 1}, .output_padding = {1, 2}};
  cases[2] = {.n = 2, .c = 4, .o = 6, .groups = 2, .strides = {2, 2}, .dilation = {1, 2}};
  cases[3] = {
      .data_layout = "NHWC", .kernel_layout = "HWOI", .strides = {2, 1}, .padding = {2, 1, 2, 1}};
  cases[4] = {.data_layout = "NHWC",
              .kernel_layout = "IOHW",
              .c = 4,
              .o = 4,
              .groups = 4,
              .strides = {3, 2}};
  for (size_t n = 0; n < cases.size(); ++n) {
    SCOPED_TRACE(absl::StrCat("case ", n));
    const ConvCase& k = cases[n];
    const int64_t ig = k.c / k.groups, og = k.o / k.groups;
    const std::string kernel = k.kernel_layout == "OIHW" ? "IOHW" : k.kernel_layout;
    const Array data_type =
        Reordered(Array(Shape{k.n, k.c, k.h, k.w}), OrderOf(k.data_layout, "NCHW"));
    const Array weight_type = Reordered(Array(Shape{k.c, og, k.kh, k.kw}), OrderOf(kernel, "IOHW"));
    const Tensor data = RandomTensor(F32(data_type.shape), n),
                 weight = RandomTensor(F32(weight_type.shape), n + 100);
    const Array d = Reordered(Array(data), OrderOf("NCHW", k.data_layout)),
                w = Reordered(Array(weight), OrderOf("IOHW", kernel));
    const int64_t oh = (k.h - 1) * k.strides[0] + (k.kh - 1) * k.dilation[0] + 1 +
                       k.output_padding[0] - k.padding[0] - k.padding[2];
    const int64_t ow = (k.w - 1) * k.strides[1] + (k.kw - 1) * k.dilation[1] + 1 +
                       k.output_padding[1] - k.padding[1] - k.padding[3];
    Array out({k.n, k.o, oh, ow});
    for (int64_t b = 0; b < k.n; ++b)
      for (int64_t c = 0; c < k.c; ++c)
        for (int64_t y = 0; y < k.h; ++y)
          for (int64_t x = 0; x < k.w; ++x)
            for (int64_t o = 0; o < og; ++o)
              for (int64_t r = 0; r < k.kh; ++r)
                for (int64_t s = 0; s < k.kw; ++s) {
                  const std::vector<int64_t> at = {
                      b, c / ig * og + o, y * k.strides[0] - k.padding[0] + r * k.dilation[0],
                      x * k.strides[1] - k.padding[1] + s * k.dilation[1]};
                  if (out.Holds(at)) out.at(at) += d({b, c, y, x}) * w({c, o, r, s});
                }
    Attrs attrs = ConvAttrs(k);
    attrs.Set("output_padding", List(k.output_padding));
    ExpectSame(Reordered(out, OrderOf(k.data_layout, "NCHW")),
               ResultOf("nn.conv2d_transpose", attrs, {data, weight}));
  }
}

TEST(Pool2d, EqualsPlainLoops) {
  for (const char* layout : {"NCHW", "NHWC"}) {
    for (int variant = 0; variant < 16; ++variant) {
      const bool average = (variant & 1) != 0, ceil_mode = (variant & 2) != 0,
                 include = (variant & 4) != 0, dilated = (variant & 8) != 0;
      SCOPED_TRACE(absl::StrCat(layout, " variant ", variant));
      const std::vector<int64_t> extent = {7, 8}, taps = {3, 2}, stride = {3, 2},
                                 dilation = {dilated ? 2 : 1, 1}, before = {1, 0}, after = {0, 1};
      const Tensor data = RandomTensor(
          F32(std::string(layout) == "NCHW" ? Shape{2, 3, 7, 8} : Shape{2, 7, 8, 3}), 7);
      const Array d = Reordered(Array(data), OrderOf("NCHW", layout));
      std::vector<int64_t> outs;
      for (size_t k = 0; k < 2; ++k) {
        const int64_t room = extent[k] + before[k] + after[k] - (taps[k] - 1) * dilation[k] - 1;
        int64_t out = room / stride[k] + 1;
        if (ceil_mode && room % stride[k] != 0 && out * stride[k] < extent[k] + before[k]) ++out;
        outs.push_back(out);
      }
      Array out({2, 3, outs[0], outs[1]});
      for (int64_t n = 0; n < 2; ++n)
        for (int64_t c = 0; c < 3; ++c)
          for (int64_t y = 0; y < outs[0]; ++y)
            for (int64_t x = 0; x < outs[1]; ++x) {
              double max = -1e30, sum = 0, count = 0;
              for (int64_t r = 0; r < taps[0]; ++r)
                for (int64_t s = 0; s < taps[1]; ++s) {
                  const int64_t py = y * stride[0] - before[0] + r * dilation[0],
                                px = x * stride[1] - before[1] + s * dilation[1];
                  const bool in = d.Holds({n, c, py, px});
                  if (in) max = std::max(max, d({n, c, py, px}));
                  if (in) sum += d({n, c, py, px});
                  if (in || (include && py < extent[0] + after[0] && px < extent[1] + after[1]))
                    ++count;
                }
              out.at({n, c, y, x}) = average ? sum / std::max(count, 1.0) : max;
            }
      Attrs attrs = {{"pool_size", List(taps)},
                     {"strides", List(stride)},
                     {"dilation", List(dilation)},
                     {"layout", layout},
                     {"padding", List({before[0], before[1], after[0], after[1]})},
                     {"ceil_mode", ceil_mode}};
      if (average) attrs.Set("count_include_pad", include);
      ExpectSame(Reordered(out, OrderOf(layout, "NCHW")),
                 ResultOf(average ? "nn.avg_pool2d" : "nn.max_pool2d", attrs, {data}));
    }
  }
}

TEST(AdaptivePool, EqualsPlainLoops) {
  for (int64_t outs : {1, 2, 3, 4, 5, 7, 9}) {
    const Tensor data = RandomTensor(F32({1, 1, 7, 1}), 3);
    Array mean({1, 1, outs, 1}), max({1, 1, outs, 1});
    for (int64_t o = 0; o < outs; ++o) {
      const int64_t begin = o * 7 / outs, end = ((o + 1) * 7 + outs - 1) / outs;
      max.at({0, 0, o, 0}) = -1e30;
      for (int64_t p = begin; p < end; ++p) {
        mean.at({0, 0, o, 0}) += data.AsDouble(p) / static_cast<double>(end - begin);
        max.at({0, 0, o, 0}) = std::max(max.at({0, 0, o, 0}), data.AsDouble(p));
      }
    }
    ExpectSame(mean,
               ResultOf("nn.adaptive_avg_pool2d", {{"output_size", List({outs, 1})}}, {data}));
    ExpectSame(max, ResultOf("nn.adaptive_max_pool2d", {{"output_size", List({outs, 1})}}, {data}));
  }
}

TEST(Products, EqualPlainLoops) {
  const Tensor a = RandomTensor(F32({2, 3, 5}), 1), bt = RandomTensor(F32({2, 4, 5}), 2),
               w = RandomTensor(F32({4, 5}), 3);
  const Array x(a), y(bt), z(w);
  Array batch({2, 3, 4}), dense({2, 3, 4});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t m = 0; m < 3; ++m)
      for (int64_t n = 0; n < 4; ++n)
        for (int64_t k = 0; k < 5; ++k) {
          batch.at({b, m, n}) += x({b, m, k}) * y({b, n, k});
          dense.at({b, m, n}) += x({b, m, k}) * z({n, k});
        }
  ExpectSame(batch, ResultOf("nn.batch_matmul", {{"transpose_b", true}}, {a, bt}));
  const Tensor b_plain = ResultOf("transpose", {{"axes", List({0, 2, 1})}}, {bt}),
               at = ResultOf("transpose", {{"axes", List({0, 2, 1})}}, {a});
  ExpectSame(batch, ResultOf("nn.batch_matmul", {}, {a, b_plain}));
  ExpectSame(batch, ResultOf("nn.batch_matmul", {{"transpose_a", true}}, {at, b_plain}));
  ExpectSame(dense, ResultOf("nn.dense", {}, {a, w}));
  ExpectSame(dense, ResultOf("nn.matmul", {{"transpose_b", true}}, {a, w}));
}

// Softmax and layer norm over the middle axis of (2, 5, 3).
TEST(Norms, EqualPlainLoops) {
  const Tensor data = RandomTensor(F32({2, 5, 3}), 1, -4, 4), gamma = RandomTensor(F32({5}), 2),
               beta = RandomTensor(F32({5}), 3);
  const Array x(data), g(gamma), b(beta);
  Array softmax({2, 5, 3}), log_softmax({2, 5, 3}), norm({2, 5, 3});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t m = 0; m < 3; ++m) {
      double sum = 0, mean = 0, variance = 0;
      for (int64_t c = 0; c < 5; ++c) sum += std::exp(x({n, c, m})), mean += x({n, c, m}) / 5;
      for (int64_t c = 0; c < 5; ++c) variance += (x({n, c, m}) - mean) * (x({n, c, m}) - mean) / 5;
      for (int64_t c = 0; c < 5; ++c) {
        softmax.at({n, c, m}) = std::exp(x({n, c, m})) / sum;
        log_softmax.at({n, c, m}) = x({n, c, m}) - std::log(sum);
        norm.at({n, c, m}) = (x({n, c, m}) - mean) / std::sqrt(variance + 1e-3) * g({c}) + b({c});
      }
    }
  ExpectSame(softmax, ResultOf("nn.softmax", {{"axis", 1}}, {data}));
  ExpectSame(log_softmax, ResultOf("nn.log_softmax", {{"axis", -2}}, {data}));
  ExpectSame(norm,
             ResultOf("nn.layer_norm", {{"axis", 1}, {"epsilon", 1e-3}}, {data, gamma, beta}));
}

TEST(StridedSlice, EqualsPlainLoops) {
  const Tensor data = Iota(F32({7}));
  for (int64_t begin : {-9, -3, 0, 2, 6, 9}) {
    for (int64_t end : {-9, -2, 0, 3, 7, 12}) {
      for (int64_t stride : {-3, -1, 1, 2, 5}) {
        // Bounds as in Python's slice.indices.
        const int64_t low = stride < 0 ? -1 : 0, high = stride < 0 ? 6 : 7;
        const auto bounded = [&](int64_t i) {
          return std::min(std::max(i < 0 ? i + 7 : i, low), high);
        };
        std::vector<double> expected;
        for (int64_t i = bounded(begin); stride < 0 ? i > bounded(end) : i < bounded(end);
             i += stride) {
          expected.push_back(static_cast<double>(i));
        }
        SCOPED_TRACE(absl::StrCat(begin, ":", end, ":", stride));
        const Tensor found = ResultOf(
            "strided_slice",
            {{"begin", List({begin})}, {"end", List({end})}, {"strides", List({stride})}}, {data});
        EXPECT_EQ(found, Values(F32({static_cast<int64_t>(expected.size())}), expected));
      }
    }
  }
}

TEST(Moves, EqualPlainLoops) {
  const Tensor data = Iota(F32({2, 3, 4}));
  const Array x(data);
  const std::vector<int64_t> which = {2, 0, 1, 2};
  Array taken({2, 4, 4}), joined({2, 5, 4});
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t k = 0; k < 4; ++k) {
      for (int64_t j = 0; j < 4; ++j)
        taken.at({i, j, k}) = x({i, which[static_cast<size_t>(j)], k});
      for (int64_t j = 0; j < 5; ++j)
        joined.at({i, j, k}) = j < 2 ? x({i, j + 1, k}) : x({i, j - 2, k});
    }
  ExpectSame(taken, ResultOf("take", {{"axis", 1}}, {data, Values(I32({4}), {2, 0, 1, 2})}));
  // split and concatenate in another order.
  absl::StatusOr<std::vector<Tensor>> parts =
      RunOp(*FindOp("split"), {{"indices_or_sections", List({1})}, {"axis", 1}}, {data});
  ASSERT_TRUE(parts.ok()) << parts.status();
  ExpectSame(joined, ResultOf("concatenate", {{"axis", 1}}, {(*parts)[1], data}));
}

}  // namespace
}  // namespace kiln
