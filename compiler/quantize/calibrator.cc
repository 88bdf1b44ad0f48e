// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/calibrator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace kiln::quantize {
namespace {

constexpr int kBins = 2048;
// Number of int8 values for magnitudes: if values have both signs, and if they have one sign and
// the zero point is at an end of the int8 range.
constexpr int kLevelsOfTwoSigns = 128, kLevelsOfOneSign = 255;
// Replaces the count 0 of a bin of Q in which P has values, as the divergence would be infinite.
constexpr double kAlmostNone = 1e-4;

// Returns the number below which `rest` values lie.
double Quantile(const Histogram& histogram, double rest) {
  const std::vector<int64_t>& counts = histogram.counts();
  double bin = 0;
  for (const int64_t count : counts) {
    const auto n = static_cast<double>(count);
    if (rest <= n) return histogram.low() + histogram.width() * (bin + (n > 0 ? rest / n : 0));
    rest -= n;
    ++bin;
  }
  return histogram.low() + histogram.width() * bin;
}

// Returns sum(P log(P / Q)) for the first `bins` bins in `levels` groups. `beyond` values lie in
// the later bins.
double Divergence(absl::Span<const int64_t> counts, int bins, int levels, int64_t beyond) {
  double total_q = 0;
  std::vector<double> q(static_cast<size_t>(bins), 0);
  for (int level = 0; level < levels; ++level) {
    const auto begin = static_cast<size_t>(int64_t{level} * bins / levels);
    const auto end = static_cast<size_t>((int64_t{level} + 1) * bins / levels);
    int64_t sum = 0, used = 0;
    for (size_t i = begin; i < end; ++i) {
      sum += counts[i];
      used += counts[i] > 0 ? 1 : 0;
    }
    for (size_t i = begin; i < end; ++i) {
      if (counts[i] > 0) q[i] = static_cast<double>(sum) / static_cast<double>(used);
    }
    total_q += static_cast<double>(sum);
  }
  double divergence = 0;
  const double total_p = total_q + static_cast<double>(beyond);
  for (size_t i = 0; i < q.size(); ++i) {
    const bool last = i + 1 == q.size();
    const double p = static_cast<double>(counts[i] + (last ? beyond : 0));
    if (p == 0) continue;
    divergence += p / total_p * std::log((p / total_p) / (std::max(q[i], kAlmostNone) / total_q));
  }
  return divergence;
}

}  // namespace

absl::StatusOr<Method> ParseMethod(absl::string_view text) {
  if (text == "minmax") return Method::kMinMax;
  if (text == "percentile") return Method::kPercentile;
  if (text == "entropy") return Method::kEntropy;
  return absl::InvalidArgumentError(
      absl::StrCat("--method: found '", text, "', wanted minmax, percentile or entropy"));
}

Histogram::Histogram(float low, float high, int bins)
    : low_(low),
      width_((static_cast<double>(high) - static_cast<double>(low)) / bins),
      counts_(static_cast<size_t>(bins), 0) {}

void Histogram::Add(float value) {
  const double bin = std::floor((static_cast<double>(value) - low_) / width_);
  const double last = static_cast<double>(counts_.size()) - 1;
  ++counts_[static_cast<size_t>(std::clamp(bin, 0.0, last))];
}

Range PercentileRange(const Histogram& histogram, double percentile) {
  const auto& counts = histogram.counts();
  const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  const double cut = total * (100 - percentile) / 200;
  return {static_cast<float>(Quantile(histogram, cut)),
          static_cast<float>(Quantile(histogram, total - cut))};
}

int EntropyBins(absl::Span<const int64_t> counts, int levels) {
  const int all = static_cast<int>(counts.size());
  int best = all;
  double least = std::numeric_limits<double>::infinity();
  int64_t beyond = 0;
  for (int bins = all; bins >= std::min(levels, all); --bins) {
    const bool any =
        std::any_of(counts.begin(), counts.begin() + bins, [](int64_t count) { return count > 0; });
    if (!any) break;
    const double divergence = Divergence(counts, bins, levels, beyond);
    if (divergence < least) {
      least = divergence;
      best = bins;
    }
    beyond += counts[static_cast<size_t>(bins) - 1];
  }
  return best;
}

absl::Status Calibrator::AddToRange(absl::Span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat("found ", value, ", wanted finite numbers"));
    }
    range_.min = std::min(range_.min, value);
    range_.max = std::max(range_.max, value);
  }
  return absl::OkStatus();
}

void Calibrator::MakeHistogram() {
  if (options_.method == Method::kEntropy) {
    histogram_.emplace(0.0f, std::max(-range_.min, range_.max), kBins);
  } else {
    histogram_.emplace(range_.min, range_.max, kBins);
  }
}

void Calibrator::AddToCounts(absl::Span<const float> values) {
  if (range_.min == range_.max) return;  // all values are 0
  if (!histogram_.has_value()) MakeHistogram();
  for (const float value : values) {
    if (options_.method != Method::kEntropy) {
      histogram_->Add(value);
    } else if (value != 0) {
      // Zeros are exact in any range. The many zeros of rectifiers would hide the other values.
      histogram_->Add(std::abs(value));
    }
  }
}

Range Calibrator::Choose() const {
  if (!histogram_.has_value()) return range_;
  if (options_.method == Method::kPercentile) {
    const Range range = PercentileRange(*histogram_, options_.percentile);
    return {std::min(range.min, 0.0f), std::max(range.max, 0.0f)};
  }
  const int levels = OneSided() && !options_.symmetric ? kLevelsOfOneSign : kLevelsOfTwoSigns;
  const int bins = EntropyBins(histogram_->counts(), levels);
  const auto threshold = static_cast<float>(histogram_->width() * bins);
  return {std::max(range_.min, -threshold), std::min(range_.max, threshold)};
}

}  // namespace kiln::quantize
