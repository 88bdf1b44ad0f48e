// SPDX-License-Identifier: Apache-2.0
// Code shared by the operators with memory, for floats (recurrent.cc) and quantized numbers.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_
#define KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// The inputs of an SVDF: data (batch, inputs), feature weights (filters, inputs), time weights
// (filters, steps), an optional bias, and the variable (batch, filters * steps) with the features
// of the last steps. One output is the sum of `rank` filters.
enum SvdfInput { kSvdfData, kSvdfFeatures, kSvdfTime, kSvdfBias, kSvdfState };
struct SvdfExtents {
  int64_t batch, filters, steps, rank;
};
absl::StatusOr<SvdfExtents> CheckSvdf(const Converter& c);
// Returns the variable after a run, (batch, filters, steps). `seen`, (batch, filters), replaces the
// oldest step.
absl::StatusOr<ValueId> SvdfState(Converter& c, const SvdfExtents& extents, ValueId seen);

// Indices of the inputs of an LSTM.
constexpr int kInputWeights = 1, kRecurrentWeights = 5, kPeepholes = 9, kBiases = 12;
constexpr int kProjection = 16, kProjectionBias = 17, kHidden = 18, kCell = 19, kLayerNorm = 20;
// Gates, in the order of the inputs. kUpdate has no peephole.
enum Gate { kIn, kForget, kUpdate, kOut, kGates };

struct LstmExtents {
  int64_t steps, batch, units;
};
// Checks an LSTM and returns its extents. Layer normalization is not supported.
absl::StatusOr<LstmExtents> CheckLstm(const Converter& c);

// Returns one step of x: (steps, batch, units) becomes (batch, units).
absl::StatusOr<ValueId> AtStep(Converter& c, ValueId x, int64_t step);

// For quantized data and weights.
absl::Status QuantizedSvdf(Converter& c);
absl::Status QuantizedLstm(Converter& c);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_
