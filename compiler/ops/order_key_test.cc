// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/order_key.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace kiln {
namespace {

template <typename T>
std::vector<T> Ascending() {
  using Limits = std::numeric_limits<T>;
  return {-Limits::infinity(),
          Limits::lowest(),
          T{-1.5},
          -Limits::min(),
          -Limits::denorm_min(),
          T{0},
          Limits::denorm_min(),
          Limits::min(),
          T{1},
          T{1.5},
          Limits::max(),
          Limits::infinity()};
}

template <typename T>
void ExpectOrder(DType dtype) {
  const std::vector<T> values = Ascending<T>();
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    EXPECT_LT(OrderKey(static_cast<double>(values[i]), dtype),
              OrderKey(static_cast<double>(values[i + 1]), dtype))
        << values[i];
  }
  EXPECT_EQ(OrderKey(-0.0, dtype), OrderKey(0.0, dtype));
  EXPECT_EQ(OrderKey(std::nan(""), dtype), OrderKeyType(dtype).MaxInt());
  EXPECT_GT(OrderKey(-std::numeric_limits<double>::infinity(), dtype),
            OrderKeyType(dtype).MinInt());
}

TEST(OrderKey, IsInTheOrderOfNumbers) {
  ExpectOrder<float>(DType::Float(32));
  ExpectOrder<double>(DType::Float(64));
}

}  // namespace
}  // namespace kiln
