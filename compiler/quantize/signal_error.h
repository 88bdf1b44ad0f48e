// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_QUANTIZE_SIGNAL_ERROR_H_
#define KILN_COMPILER_QUANTIZE_SIGNAL_ERROR_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/types/span.h"

namespace kiln::quantize {

// Quantization error of a tensor compared with the float tensor, over all values added.
class SignalError {
 public:
  // Both spans have the same size.
  void Add(absl::Span<const float> wanted, absl::Span<const float> found) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double signal = wanted[i], noise = double{found[i]} - signal;
      signal_ += signal * signal;
      noise_ += noise * noise;
      largest_ = std::max(largest_, std::abs(noise));
    }
  }

  // Returns the signal-to-quantization-noise ratio in dB: 10 log10(sum of squares of the wanted
  // values / sum of squares of the differences). Infinite if all values are equal.
  double Decibels() const {
    if (noise_ == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(signal_ / noise_);
  }
  double largest() const { return largest_; }  // largest absolute difference

 private:
  double signal_ = 0, noise_ = 0, largest_ = 0;
};

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_SIGNAL_ERROR_H_
