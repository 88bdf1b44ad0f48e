// SPDX-License-Identifier: Apache-2.0
// One step of a recurrent operator: the cells of LSTM, GRU and RNN.
#ifndef KILN_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
#define KILN_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/gate_activation.h"

namespace kiln::onnx_frontend {

// The constant parts of all steps of one direction. Gates lie side by side: LSTM i, o, f, c; GRU z,
// r, h.
struct Cell {
  int64_t hidden = 0;                   // H
  ValueId recurrence = kNoId;           // (gates * H, H)
  ValueId candidate_bias = kNoId;       // (H), added after the product in GRU's h; optional
  std::vector<ValueId> peepholes;       // (H) each, for LSTM's i, o and f; or empty
  std::vector<Activation> activations;  // f, g, h
  std::optional<double> clip;           // limit for the inputs of gate activations
  bool input_forget = false;            // LSTM: f is 1 - i.
  bool linear_before_reset = false;     // GRU: r multiplies the product, not the state.
  bool quantizes_state = false;         // LSTM: h is quantized to bytes before the product.
};

struct CellState {
  ValueId h = kNoId;  // (B, H)
  ValueId c = kNoId;  // (B, H); only LSTM
};

// Return the state after a step. `x` is the input's part of all gates with biases: (B, gates * H).
using StepCell = absl::StatusOr<CellState> (*)(Converter&, const Cell&, ValueId x, CellState);

absl::StatusOr<CellState> StepLstm(Converter& c, const Cell& cell, ValueId x, CellState state);
absl::StatusOr<CellState> StepGru(Converter& c, const Cell& cell, ValueId x, CellState state);
absl::StatusOr<CellState> StepRnn(Converter& c, const Cell& cell, ValueId x, CellState state);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
