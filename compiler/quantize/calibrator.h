// SPDX-License-Identifier: Apache-2.0
// Calibration: which range of a tensor's values the 256 numbers of int8 are to cover, from values
// that the tensor has had.
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
  kPercentile,  // all but the rarest on both ends
  kEntropy,     // as far as clipping loses less than coarser steps do
};
// "minmax", "percentile" or "entropy".
absl::StatusOr<Method> ParseMethod(absl::string_view text);

struct CalibrationOptions {
  Method method = Method::kMinMax;
  double percentile = 99.99;  // of the values that kPercentile keeps, 50 to 100
  bool symmetric = false;     // the int8 numbers will have the zero point 0
};

// How many values lie in each of some bins of equal width.
class Histogram {
 public:
  // Of values from `low` to `high`, which is larger. Values outside count in the bins at the ends.
  Histogram(float low, float high, int bins);

  void Add(float value);

  float low() const { return low_; }
  double width() const { return width_; }  // of a bin
  const std::vector<int64_t>& counts() const { return counts_; }

 private:
  float low_;
  double width_;
  std::vector<int64_t> counts_;
};

// The range that leaves out (100 - percentile) / 2 percent of the values at either end. Values of a
// bin are taken as spread evenly over it.
Range PercentileRange(const Histogram& histogram, double percentile);

// How many bins, from the first, are to be covered by `levels` numbers so that the least of the
// histogram of magnitudes is lost: for every count i of bins from `levels` on, P is the first i
// bins, the last of which gets all that lies beyond; Q is the same bins merged into `levels` groups
// and spread again over those bins of each group that have values. The i with the least
// Kullback-Leibler divergence sum(P log(P / Q)) is taken, of equal ones the largest. The method of
// S. Migacz, "8-bit Inference with TensorRT", GPU Technology Conference 2017, pages 20 to 39.
int EntropyBins(absl::Span<const int64_t> counts, int levels);

// Of one tensor.
class Calibrator {
 public:
  explicit Calibrator(const CalibrationOptions& options) : options_(options) {}

  // First every value once; InvalidArgument at one that is not finite.
  absl::Status AddToRange(absl::Span<const float> values);
  // Then, where this says so, every value once more.
  bool needs_counts() const { return options_.method != Method::kMinMax; }
  void AddToCounts(absl::Span<const float> values);

  // Contains 0, which padding and rectifiers need exactly.
  Range Choose() const;

 private:
  void MakeHistogram();
  // Whether all values have one sign, and so all int8 numbers serve that side of 0.
  bool OneSided() const { return range_.min >= 0 || range_.max <= 0; }

  CalibrationOptions options_;
  Range range_;  // of all values and 0
  std::optional<Histogram> histogram_;
};

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_CALIBRATOR_H_
