// SPDX-License-Identifier: Apache-2.0
// Comparison of tensors with expected values.
#ifndef KILN_TOOLS_JUDGE_CLOSE_H_
#define KILN_TOOLS_JUDGE_CLOSE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

// |found - wanted| <= absolute + relative * |wanted|. If both are 0, the bits must be equal.
struct Tolerance {
  double relative = 1e-5, absolute = 1e-6;
};

// Returns element i in row-major order: an integer, or a float with enough digits to be unique.
std::string ElementText(const Tensor& tensor, int64_t i);

// FailedPrecondition, with the number of elements that are not within the tolerance and the first
// of them. NaN agrees with NaN. Both tensors have the same type.
absl::Status CheckClose(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_CLOSE_H_
