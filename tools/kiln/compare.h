// SPDX-License-Identifier: Apache-2.0
// Tensors beside what they should be.
#ifndef KILN_TOOLS_KILN_COMPARE_H_
#define KILN_TOOLS_KILN_COMPARE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// |found - wanted| <= absolute + relative * |wanted|; equal bits where both are 0.
struct Tolerance {
  double relative = 1e-5, absolute = 1e-6;
};

// Element i in row-major order: an integer, or a float in as many digits as tell it from others.
std::string ElementText(const Tensor& tensor, int64_t i);

// FailedPrecondition that says how many elements are not within the tolerance, and the first one.
// NaN agrees with NaN. Both have one type.
absl::Status CheckClose(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_COMPARE_H_
