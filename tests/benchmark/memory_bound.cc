// SPDX-License-Identifier: Apache-2.0
// Float32 kernels that are limited by memory rather than by arithmetic.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/benchmark/kernel.h"
#include "tests/benchmark/net.h"

namespace kiln::benchmark {
namespace {

void AddDepthwise(KernelList& list, int64_t extent, int64_t channels, int64_t stride) {
  Net net;
  const ValueId y = net.Op(
      "nn.conv2d", {net.Input({1, extent, extent, channels}), net.Weights({channels, 1, 3, 3})},
      {{"padding", AttrValue::Ints({1, 1})},
       {"strides", AttrValue::Ints({stride, stride})},
       {"groups", channels},
       {"data_layout", "NHWC"}});
  net.Output(net.Op("nn.relu", {y}));
  list.Add(absl::StrCat("depthwise 3x3/", stride, " ", extent, "x", extent, "x", channels),
           Roof::kCopy, 0, std::move(net).Take());
}

void AddMaxPool(KernelList& list, int64_t window, int64_t stride, int64_t extent,
                int64_t channels) {
  Net net;
  net.Output(net.Op("nn.max_pool2d", {net.Input({1, extent, extent, channels})},
                    {{"pool_size", AttrValue::Ints({window, window})},
                     {"strides", AttrValue::Ints({stride, stride})},
                     {"padding", AttrValue::Ints({window / 2, window / 2})},
                     {"layout", "NHWC"}}));
  list.Add(absl::StrCat("max_pool ", window, "x", window, "/", stride, " ", extent, "x", extent,
                        "x", channels),
           Roof::kCopy, 0, std::move(net).Take());
}

void AddAddRelu(KernelList& list, int64_t elements) {
  Net net;
  net.Output(net.Op("nn.relu", {net.Op("add", {net.Input({elements}), net.Input({elements})})}));
  list.Add(absl::StrCat("add, relu ", elements), Roof::kCopy, 0, std::move(net).Take());
}

void AddSoftmax(KernelList& list, int64_t rows, int64_t columns) {
  Net net;
  net.Output(net.Op("nn.softmax", {net.Input({rows, columns})}, {{"axis", 1}}));
  list.Add(absl::StrCat("softmax ", rows, "x", columns), Roof::kCopy, 0, std::move(net).Take());
}

// A row times a matrix: every weight is read once.
void AddMatrixVector(KernelList& list, int64_t n, int64_t k) {
  Net net;
  net.Output(net.Op("nn.dense", {net.Input({1, k}), net.Weights({n, k})}, {{"units", n}}));
  list.Add(absl::StrCat("dense 1x", n, "x", k), Roof::kCopy, 0, std::move(net).Take());
}

void AddTranspose(KernelList& list, const Shape& shape, const std::vector<int64_t>& axes,
                  absl::string_view name) {
  Net net;
  net.Output(net.Op("transpose", {net.Input(shape)}, {{"axes", AttrValue::Ints(axes)}}));
  list.Add(absl::StrCat("transpose ", name), Roof::kCopy, 0, std::move(net).Take());
}

// Four copies of every second row and column, concatenated, as at the beginning of YOLOv5.
void AddFocus(KernelList& list, int64_t extent) {
  Net net;
  const ValueId x = net.Input({1, 3, extent, extent});
  std::vector<ValueId> parts;
  for (const auto& [row, column] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}}) {
    parts.push_back(net.Op("strided_slice", {x},
                           {{"begin", AttrValue::Ints({0, 0, row, column})},
                            {"end", AttrValue::Ints({1, 3, extent, extent})},
                            {"strides", AttrValue::Ints({1, 1, 2, 2})}}));
  }
  net.Output(net.Op("concatenate", parts, {{"axis", 1}}));
  list.Add(absl::StrCat("slices /2 of 3x", extent, "x", extent), Roof::kCopy, 0,
           std::move(net).Take());
}

// The end of a detector's head: anchors become the outer dimension, and a box's position is
// separated from its classes.
void AddHead(KernelList& list, int64_t anchors, int64_t numbers, int64_t extent) {
  Net net;
  ValueId x = net.Op("reshape", {net.Input({1, anchors * numbers, extent, extent})},
                     {{"newshape", AttrValue::Ints({1, anchors, numbers, extent, extent})}});
  x = net.Op("transpose", {x}, {{"axes", AttrValue::Ints({0, 1, 3, 4, 2})}});
  for (const auto& [begin, end] : {std::pair(int64_t{0}, int64_t{4}), {4, numbers}}) {
    net.Output(net.Op("strided_slice", {x},
                      {{"begin", AttrValue::Ints({begin})},
                       {"end", AttrValue::Ints({end})},
                       {"axes", AttrValue::Ints({4})}}));
  }
  list.Add(absl::StrCat("head ", anchors, "x", numbers, "x", extent, "x", extent), Roof::kCopy, 0,
           std::move(net).Take());
}

}  // namespace

void AddMemoryBound(KernelList& list) {
  AddDepthwise(list, 112, 32, 1);
  AddDepthwise(list, 112, 64, 2);
  AddDepthwise(list, 14, 512, 1);
  AddMaxPool(list, 3, 2, 112, 64);
  for (int64_t window : {5, 9, 13}) AddMaxPool(list, window, 1, 20, 256);
  AddAddRelu(list, 1 << 20);
  AddAddRelu(list, 1 << 24);
  AddSoftmax(list, 2048, 1024);
  AddMatrixVector(list, 4096, 4096);
  AddTranspose(list, {1, 3, 640, 640}, {0, 2, 3, 1}, "3x640x640 to channels last");
  AddTranspose(list, {1, 80, 80, 255}, {0, 3, 1, 2}, "80x80x255 to channels first");
  AddTranspose(list, {1, 84, 8400}, {0, 2, 1}, "84x8400");
  AddFocus(list, 640);
  AddHead(list, 3, 85, 80);
}

}  // namespace kiln::benchmark
