// SPDX-License-Identifier: Apache-2.0
// Products of bytes with TFLite's requantization, channels last.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/benchmark/kernel.h"
#include "tests/benchmark/net.h"

namespace kiln::benchmark {
namespace {

void AddConvolutionInt8(KernelList& list, int64_t extent, int64_t in, int64_t out, int64_t kernel) {
  Net net;
  const int64_t padding = kernel / 2;
  net.Output(net.QuantisedProduct("qnn.conv2d", net.Input({1, extent, extent, in}, DType::Int(8)),
                                  net.Int8Weights({out, kernel, kernel, in}), out,
                                  {{"padding", AttrValue::Ints({padding, padding})},
                                   {"channels", out},
                                   {"kernel_size", AttrValue::Ints({kernel, kernel})},
                                   {"data_layout", "NHWC"},
                                   {"kernel_layout", "OHWI"}}));
  list.Add(absl::StrCat("int8 conv2d ", kernel, "x", kernel, " ", in, "->", out, " ", extent, "x",
                        extent),
           Roof::kByteProducts,
           2.0 * static_cast<double>(extent * extent * in * out * kernel * kernel),
           std::move(net).Take());
}

void AddDepthwiseInt8(KernelList& list, int64_t extent, int64_t channels) {
  Net net;
  net.Output(net.QuantisedProduct("qnn.conv2d",
                                  net.Input({1, extent, extent, channels}, DType::Int(8)),
                                  net.Int8Weights({channels, 1, 3, 3}), channels,
                                  {{"padding", AttrValue::Ints({1, 1})},
                                   {"groups", channels},
                                   {"channels", channels},
                                   {"kernel_size", AttrValue::Ints({3, 3})},
                                   {"data_layout", "NHWC"}}));
  list.Add(absl::StrCat("int8 depthwise 3x3 ", extent, "x", extent, "x", channels),
           Roof::kByteProducts, 2.0 * static_cast<double>(extent * extent * channels * 9),
           std::move(net).Take());
}

void AddDenseInt8(KernelList& list, int64_t m, int64_t n, int64_t k) {
  Net net;
  net.Output(net.QuantisedProduct("qnn.dense", net.Input({m, k}, DType::Int(8)),
                                  net.Int8Weights({n, k}), n, {{"units", n}}));
  list.Add(absl::StrCat("int8 dense ", m, "x", n, "x", k), Roof::kByteProducts,
           2.0 * static_cast<double>(m * n * k), std::move(net).Take());
}

}  // namespace

void AddInt8Products(KernelList& list) {
  AddConvolutionInt8(list, 28, 256, 256, 1);
  AddConvolutionInt8(list, 56, 64, 64, 1);
  AddConvolutionInt8(list, 14, 512, 512, 1);
  AddConvolutionInt8(list, 28, 16, 96, 1);
  AddConvolutionInt8(list, 56, 64, 64, 3);
  AddConvolutionInt8(list, 14, 256, 256, 3);
  AddConvolutionInt8(list, 112, 3, 32, 3);
  AddDepthwiseInt8(list, 56, 128);
  AddDepthwiseInt8(list, 14, 512);
  AddDenseInt8(list, 256, 512, 512);
  AddDenseInt8(list, 1, 1024, 1024);
}

}  // namespace kiln::benchmark
