// SPDX-License-Identifier: Apache-2.0
// Float32 kernels that are limited by arithmetic: dense layers, convolutions, attention.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/benchmark/kernel.h"
#include "tests/benchmark/net.h"

namespace kiln::benchmark {
namespace {

void AddDense(KernelList& list, int64_t m, int64_t n, int64_t k) {
  Net net;
  net.Output(net.Op("nn.dense", {net.Input({m, k}), net.Weights({n, k})}, {{"units", n}}));
  list.Add(absl::StrCat("dense ", m, "x", n, "x", k), Roof::kMultiplyAdds,
           2.0 * static_cast<double>(m * n * k), std::move(net).Take());
}

struct Convolution {
  int64_t extent, in, out, kernel;
  const char* epilogue = "relu";  // or sigmoid, silu
  bool winograd = false;
};

void AddConvolution(KernelList& list, const Convolution& c) {
  Net net;
  const int64_t padding = c.kernel / 2;
  ValueId y = net.Op(
      "nn.conv2d",
      {net.Input({1, c.extent, c.extent, c.in}), net.Weights({c.out, c.in, c.kernel, c.kernel})},
      {{"padding", AttrValue::Ints({padding, padding})}, {"data_layout", "NHWC"}});
  const absl::string_view epilogue = c.epilogue;
  const ValueId sum = y;
  y = net.Op(epilogue == "relu" ? "nn.relu" : "sigmoid", {sum});
  if (epilogue == "silu") y = net.Op("multiply", {sum, y});
  net.Output(y);
  list.Add(absl::StrCat(c.winograd ? "winograd " : "conv2d ", c.kernel, "x", c.kernel, " ", c.in,
                        "->", c.out, " ", c.extent, "x", c.extent,
                        epilogue == "relu" ? "" : absl::StrCat(" ", epilogue)),
           Roof::kMultiplyAdds,
           2.0 * static_cast<double>(c.extent * c.extent * c.in * c.out * c.kernel * c.kernel),
           std::move(net).Take(), {.winograd = c.winograd});
}

// A transposed convolution that doubles the extent, as in decoders.
void AddTransposed(KernelList& list, int64_t extent, int64_t in, int64_t out, int64_t kernel) {
  Net net;
  const int64_t padding = kernel / 2 - 1;
  net.Output(net.Op("nn.conv2d_transpose",
                    {net.Input({1, extent, extent, in}), net.Weights({in, out, kernel, kernel})},
                    {{"strides", AttrValue::Ints({2, 2})},
                     {"padding", AttrValue::Ints({padding, padding})},
                     {"data_layout", "NHWC"}}));
  list.Add(absl::StrCat("conv2d_transpose ", kernel, "x", kernel, "/2 ", in, "->", out, " ", extent,
                        "x", extent),
           Roof::kMultiplyAdds,
           2.0 * static_cast<double>(extent * extent * in * out * kernel * kernel),
           std::move(net).Take());
}

// Two products with a softmax in between, one matrix per head.
void AddAttention(KernelList& list, int64_t heads, int64_t tokens, int64_t depth) {
  Net net;
  const Shape shape = {heads, tokens, depth};
  ValueId scores = net.Op("nn.batch_matmul", {net.Input(shape), net.Input(shape)},
                          {{"transpose_a", false}, {"transpose_b", true}});
  scores = net.Op("multiply", {scores, net.Scalar(DType::Float(32), 0.125)});
  scores = net.Op("nn.softmax", {scores}, {{"axis", -1}});
  net.Output(net.Op("nn.batch_matmul", {scores, net.Input(shape)},
                    {{"transpose_a", false}, {"transpose_b", false}}));
  list.Add(absl::StrCat("attention ", heads, "x", tokens, "x", depth), Roof::kMultiplyAdds,
           4.0 * static_cast<double>(heads * tokens * tokens * depth), std::move(net).Take());
}

}  // namespace

void AddProducts(KernelList& list) {
  AddDense(list, 512, 512, 512);
  for (const auto& [extent, channels] : {std::pair(56, 64), {28, 128}, {14, 256}, {7, 512}}) {
    AddConvolution(list, {extent, channels, channels, 3});
    AddConvolution(
        list, {.extent = extent, .in = channels, .out = channels, .kernel = 3, .winograd = true});
  }
  AddConvolution(list, {56, 64, 256, 1});
  AddConvolution(list, {56, 256, 64, 1});
  AddConvolution(list, {28, 256, 256, 1});
  AddConvolution(list, {14, 1024, 256, 1});
  AddConvolution(list, {14, 256, 1024, 1});
  AddConvolution(list, {7, 2048, 512, 1});
  for (const char* epilogue : {"sigmoid", "silu"}) {
    AddConvolution(list, {28, 256, 256, 1, epilogue});
    AddConvolution(list, {80, 64, 64, 3, epilogue});
    AddConvolution(list, {160, 32, 32, 1, epilogue});
  }
  AddTransposed(list, 56, 64, 3, 4);
  AddTransposed(list, 112, 32, 1, 4);
  AddTransposed(list, 28, 128, 64, 4);
  AddTransposed(list, 28, 128, 64, 2);
  for (int64_t tokens : {32, 128, 256}) AddAttention(list, 12, tokens, 64);
}

}  // namespace kiln::benchmark
