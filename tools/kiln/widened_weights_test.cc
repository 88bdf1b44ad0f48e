// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/widened_weights.h"

#include <gtest/gtest.h>

namespace kiln::tools {
namespace {

TEST(WidenedWeights, AreThoseWithoutAConstantOfBytes) {
  const frontend::NarrowWeight bytes = {.name = "a", .bits = 8, .elements = 2048};
  const frontend::NarrowWeight nibbles = {.name = "b", .bits = 4, .elements = 4097};
  const frontend::NarrowWeight half = {.name = "c", .bits = 8, .elements = 1024, .float_bytes = 2};
  const frontend::NarrowWeight small = {.name = "d", .bits = 8, .elements = 16};
  EXPECT_EQ(
      WidenedWeightsText({bytes, nibbles, small}, {2048}),
      "1 weight that the model stores in 4 bits is stored as floats in the library: 16388 bytes "
      "instead of 2049");
  // One constant matches one weight.
  EXPECT_EQ(
      WidenedWeightsText({bytes, bytes, nibbles}, {16, 2048}),
      "2 weights that the model stores in 4 and 8 bits are stored as floats in the library: 24580 "
      "bytes instead of 4097");
  EXPECT_EQ(
      WidenedWeightsText({half}, {}),
      "1 weight that the model stores in 8 bits is stored as floats in the library: 2048 bytes "
      "instead of 1024");
  EXPECT_EQ(WidenedWeightsText({bytes, small}, {2048}), "");
  EXPECT_EQ(WidenedWeightsText({}, {2048}), "");
}

}  // namespace
}  // namespace kiln::tools
