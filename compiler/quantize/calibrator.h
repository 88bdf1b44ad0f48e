// SPDX-License-Identifier: Apache-2.0
// Calibration: chooses the range of a tensor that the 256 int8 values cover, from observed values
// of the tensor.
//
//   Calibrator calibrator({.method = Method::kPercentile});
//   for (…) KILN_RETURN_IF_ERROR(calibrator.AddToRange(values));
//   if (calibrator.needs_counts()) for (…) calibrator.AddToCounts(values);   // the same values
//   const Range range = calibrator.Choose();
#ifndef KILN_COMPILER_QUANTIZE_CALIBRATOR_H_
#define KILN_COMPILER_QUANTIZE_CALIBRATOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln::quantize {

struct Range {
  float min = 0, max = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

enum class Method {
  kMinMax,      // all values
  kPercentile,  // all except the rarest at both ends
  kEntropy,     // clips as long as clipping loses less than coarser steps
};
// Parses "minmax", "percentile" or "entropy".
absl::StatusOr<Method> ParseMethod(absl::string_view text);

struct CalibrationOptions {
  Method method = Method::kMinMax;
  double percentile = 99.99;  // percentage of values that kPercentile keeps, 50 to 100
  bool symmetric = false;     // the int8 values will have the zero point 0
};

// Counts of values in bins of equal width.
class Histogram {
 public:
  // Covers values from `low` to `high`, which must be larger. Values outside count in the first or
  // last bin.
  Histogram(float low, float high, int bins);

  void Add(float value);

  float low() const { return low_; }
  double width() const { return width_; }  // width of a bin
  const std::vector<int64_t>& counts() const { return counts_; }

 private:
  float low_;
  double width_;
  std::vector<int64_t> counts_;
};

// Returns the range that leaves out (100 - percentile) / 2 percent of the values at each end. The
// values of a bin count as spread evenly over it.
Range PercentileRange(const Histogram& histogram, double percentile);

// Returns the number of leading bins that `levels` numbers should cover so that the histogram of
// magnitudes loses the least information. For each candidate i from `levels` to all bins:
// - P is the first i bins; the last of them also counts all later values.
// - Q is the same bins merged into `levels` groups. The count of each group is spread evenly over
//   those of its bins that have values.
// The i with the smallest Kullback-Leibler divergence sum(P log(P / Q)) is taken, and the largest
// of equal ones. The method is from S. Migacz, "8-bit Inference with TensorRT", GPU Technology
// Conference 2017, pages 20 to 39.
int EntropyBins(absl::Span<const int64_t> counts, int levels);

// Chooses the range of one tensor.
class Calibrator {
 public:
  explicit Calibrator(const CalibrationOptions& options) : options_(options) {}

  // Pass 1: must get every value once. InvalidArgument if a value is not finite.
  absl::Status AddToRange(absl::Span<const float> values);
  // Pass 2, needed only if needs_counts(): AddToCounts must get every value once more.
  bool needs_counts() const { return options_.method != Method::kMinMax; }
  void AddToCounts(absl::Span<const float> values);

  // Returns the range. It contains 0, as padding and rectifiers need an exact 0.
  Range Choose() const;

 private:
  void MakeHistogram();
  // True if all values have one sign, so that all int8 values can serve that side of 0.
  bool OneSided() const { return range_.min >= 0 || range_.max <= 0; }

  CalibrationOptions options_;
  Range range_;  // includes all values and 0
  std::optional<Histogram> histogram_;
};

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_CALIBRATOR_H_
