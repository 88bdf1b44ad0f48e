// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "tools/model_test/report.h"

static std::string reported;

extern "C" void Report(const char* text) { reported += text; }

namespace {

std::string Number(double value) {
  reported.clear();
  ReportNumber(value);
  return reported;
}

TEST(ReportNumber, WritesWhatAReaderExpects) {
  EXPECT_EQ(Number(0), "0");
  EXPECT_EQ(Number(3), "3");
  EXPECT_EQ(Number(-3.5), "-3.5");
  EXPECT_EQ(Number(123456789), "123456789");
  EXPECT_EQ(Number(1234567890), "1.23456789e9");
  EXPECT_EQ(Number(999999999.7), "1e9");
  EXPECT_EQ(Number(100), "100");
  EXPECT_EQ(Number(0.0123), "0.0123");
  EXPECT_EQ(Number(0.0001), "0.0001");
  EXPECT_EQ(Number(0.00001), "1e-5");
  EXPECT_EQ(Number(-1.25e-20), "-1.25e-20");
  EXPECT_EQ(Number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(Number(std::nan("")), "nan");
}

// Nine digits identify every float32.
TEST(ReportNumber, ReadsBackAsTheSameFloat) {
  for (float value = 1e-30f; value < 1e30f; value *= 1.7f) {
    EXPECT_EQ(std::stof(Number(static_cast<double>(value))), value);
  }
}

}  // namespace
