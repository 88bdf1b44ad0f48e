// SPDX-License-Identifier: Apache-2.0
// What the operators with memory share, of floats (recurrent.cc) and of quantized numbers.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_
#define KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {

// The extents of an SVDF, whose inputs are data (batch, inputs), what it sees of them (filters,
// inputs), how it weighs the last steps (filters, steps), a bias or none, and the variable (batch,
// filters * steps) with what it saw. `rank` filters add up to one output.
enum SvdfInput { kSvdfData, kSvdfFeatures, kSvdfTime, kSvdfBias, kSvdfState };
struct SvdfExtents {
  int64_t batch, filters, steps, rank;
};
absl::StatusOr<SvdfExtents> CheckSvdf(const Converter& c);
// What the variable holds behind a run: the oldest step has made room for `seen`, (batch, filters).
// (batch, filters, steps).
absl::StatusOr<ValueId> SvdfState(Converter& c, const SvdfExtents& extents, ValueId seen);

// The inputs of an LSTM, by their places.
constexpr int kInputWeights = 1, kRecurrentWeights = 5, kPeepholes = 9, kBiases = 12;
constexpr int kProjection = 16, kProjectionBias = 17, kHidden = 18, kCell = 19, kLayerNorm = 20;
// Gates, in the order of the inputs. Peepholes leave out kUpdate.
enum Gate { kIn, kForget, kUpdate, kOut, kGates };

struct LstmExtents {
  int64_t steps, batch, units;
};
// Of an LSTM without layer normalization.
absl::StatusOr<LstmExtents> CheckLstm(const Converter& c);

// One step of what has the steps in front: (steps, batch, units) becomes (batch, units).
absl::StatusOr<ValueId> AtStep(Converter& c, ValueId x, int64_t step);

// Of data and weights that are quantized.
absl::Status QuantizedSvdf(Converter& c);
absl::Status QuantizedLstm(Converter& c);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_RECURRENT_H_
