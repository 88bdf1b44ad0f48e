// SPDX-License-Identifier: Apache-2.0
// The expected values are computed by hand from the definitions in calibrator.h.
#include "compiler/quantize/calibrator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kiln::quantize {
namespace {

Range Calibrated(const CalibrationOptions& options, const std::vector<float>& values) {
  Calibrator calibrator(options);
  EXPECT_TRUE(calibrator.AddToRange(values).ok());
  if (calibrator.needs_counts()) calibrator.AddToCounts(values);
  return calibrator.Choose();
}

TEST(CalibratorTest, MinMaxIsTheRangeOfAllValuesAndZero) {
  EXPECT_EQ(Calibrated({}, {-1.5f, 0.25f, 3}), (Range{-1.5f, 3}));
  EXPECT_EQ(Calibrated({}, {2, 4}), (Range{0, 4}));
  EXPECT_EQ(Calibrated({}, {-2, -4}), (Range{-4, 0}));
  EXPECT_EQ(Calibrated({}, {0, 0}), (Range{0, 0}));
}

TEST(CalibratorTest, OneThatIsNotFiniteIsRefused) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Calibrator calibrator({});
    EXPECT_EQ(calibrator.AddToRange(std::vector<float>{1, value}).code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(CalibratorTest, HistogramCountsByBinsOfOneWidth) {
  Histogram histogram(-1, 1, 4);
  for (const float value : {-1.0f, -0.5f, -0.25f, 0.0f, 0.75f, 1.0f, 5.0f}) histogram.Add(value);
  EXPECT_EQ(histogram.counts(), (std::vector<int64_t>{1, 2, 1, 3}));
  EXPECT_EQ(histogram.width(), 0.5);
}

TEST(CalibratorTest, PercentileCutsHalfOfTheRestAtEitherEnd) {
  // 10 values in each of 10 bins from 0 to 10. 10 percent at each end are a whole bin, 5 percent
  // half a bin.
  Histogram histogram(0, 10, 10);
  for (int bin = 0; bin < 10; ++bin) {
    for (int i = 0; i < 10; ++i) histogram.Add(static_cast<float>(bin) + 0.5f);
  }
  EXPECT_EQ(PercentileRange(histogram, 80), (Range{1, 9}));
  EXPECT_EQ(PercentileRange(histogram, 90), (Range{0.5f, 9.5f}));
  EXPECT_EQ(PercentileRange(histogram, 100), (Range{0, 10}));
}

TEST(CalibratorTest, PercentileOfUnevenCounts) {
  // Bins of width 2 with 1, 0, 6 and 1 values. Half of one of the 8 values is 6.25 percent. The cut
  // is in the middle of the first bin at the lower end, and of the last bin at the upper end.
  Histogram histogram(-4, 4, 4);
  for (const float value : {-3.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 3.0f}) histogram.Add(value);
  EXPECT_EQ(PercentileRange(histogram, 87.5), (Range{-3, 3}));
  // A quarter at each end is two values. At the lower end these are the value of the first bin and
  // one of six in the third. At the upper end they are the value of the last bin and one of six in
  // the third.
  const Range range = PercentileRange(histogram, 50);
  EXPECT_FLOAT_EQ(range.min, 1.0f / 3);
  EXPECT_FLOAT_EQ(range.max, 2 - 1.0f / 3);
}

TEST(CalibratorTest, PercentileLeavesOutliersOut) {
  std::vector<float> values(9999, 0.5f);
  values.push_back(1000);
  const Range range = Calibrated({.method = Method::kPercentile, .percentile = 99.9}, values);
  EXPECT_EQ(range.min, 0);
  EXPECT_LE(range.max, 2 * 1000.0f / 2048);  // within the second bin
  EXPECT_GE(range.max, 0.5f);
}

// The counts 8, 4, 2, 2 in two levels, with natural logarithms:
//   2 bins: P = 8, 8 of 16; Q = 8, 4 of 12:             0.5 log(3/4) + 0.5 log(3/2)        = 0.0589
//   3 bins: P = 8, 4, 4 of 16; Q = 8 | 3, 3 of 14:      0.5 log(7/8) + 2 * 0.25 log(7/6)   = 0.0103
//   4 bins: P = 8, 4, 2, 2 of 16; Q = 6, 6 | 2, 2 of 16: 0.5 log(4/3) + 0.25 log(2/3)       =
//   0.0425
TEST(CalibratorTest, EntropyTakesTheLeastDivergence) {
  EXPECT_EQ(EntropyBins(std::vector<int64_t>{8, 4, 2, 2}, 2), 3);
}

TEST(CalibratorTest, EntropyKeepsAllOfEvenCounts) {
  // Groups of equal counts are spread back unchanged, so without clipping the divergence is 0.
  EXPECT_EQ(EntropyBins(std::vector<int64_t>(8, 5), 2), 8);
  EXPECT_EQ(EntropyBins(std::vector<int64_t>(8, 5), 3), 8);
}

TEST(CalibratorTest, EntropySpreadsOverBinsThatHaveValues) {
  // 4 bins, 2 levels: Q is 6 in the first bin and 2 in the last, as P is, so nothing is lost.
  EXPECT_EQ(EntropyBins(std::vector<int64_t>{6, 0, 0, 2}, 2), 4);
}

TEST(CalibratorTest, EntropyOfFewerBinsThanLevelsKeepsAll) {
  EXPECT_EQ(EntropyBins(std::vector<int64_t>{3, 1}, 128), 2);
}

TEST(CalibratorTest, EntropyClipsOutliersAndNeverWidens) {
  // Magnitudes with a triangular distribution up to 1, and a single value far away.
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) {
    for (int n = 0; n < (1000 - i) / 10 + 1; ++n) {
      values.push_back(static_cast<float>(i % 2 == 0 ? i : -i) / 1000);
    }
  }
  values.push_back(8);
  const Range range = Calibrated({.method = Method::kEntropy}, values);
  EXPECT_LT(range.max, 2);
  EXPECT_GT(range.max, 0.5f);
  EXPECT_GE(range.min, -1);
  EXPECT_LT(range.min, -0.5f);
}

TEST(CalibratorTest, EntropyDoesNotCountZeros) {
  std::vector<float> values = {1, 2, 3, 4};
  const Range range = Calibrated({.method = Method::kEntropy}, values);
  values.insert(values.end(), 100000, 0.0f);
  EXPECT_EQ(Calibrated({.method = Method::kEntropy}, values), range);
}

TEST(CalibratorTest, MethodsHaveNames) {
  EXPECT_EQ(ParseMethod("entropy").value(), Method::kEntropy);
  EXPECT_EQ(ParseMethod("kl").status().message(),
            "--method: found 'kl', wanted minmax, percentile or entropy");
}

}  // namespace
}  // namespace kiln::quantize
