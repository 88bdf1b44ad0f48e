// SPDX-License-Identifier: Apache-2.0
// Normalizations that ONNX and com.microsoft share.
#ifndef KILN_COMPILER_FRONTEND_ONNX_NORMALIZATION_H_
#define KILN_COMPILER_FRONTEND_ONNX_NORMALIZATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Parameters of LayerNorm and RmsNorm.
struct NormParams {
  ValueId scale;
  ValueId shift = kNoId;  // kNoId: nothing is added
  int64_t axis;           // first normalized dimension, not negative
  double epsilon;         // added to the variance or the mean square
};

// (x - mean) / sqrt(variance + epsilon) * scale + shift, with mean and variance over the dimensions
// from `axis` on. InvalidArgument unless scale and shift broadcast to the shape of x.
absl::StatusOr<ValueId> LayerNorm(Converter& c, ValueId x, const NormParams& params);

// x / sqrt(mean(x²) + epsilon) * scale, with the mean over the dimensions from `axis` on. `shift`
// is ignored. float16 data is normalized as float32. The result has the dtype of scale.
// InvalidArgument unless scale broadcasts to the shape of x.
absl::StatusOr<ValueId> RmsNorm(Converter& c, ValueId x, const NormParams& params);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_NORMALIZATION_H_
