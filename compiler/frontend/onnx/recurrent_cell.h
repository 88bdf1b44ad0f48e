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

// What all steps of one direction have in common. Gates lie side by side: LSTM i, o, f, c; GRU
// z, r, h.
struct Cell {
  int64_t hidden = 0;                   // H
  ValueId recurrence = kNoId;           // (gates * H, H)
  ValueId candidate_bias = kNoId;       // (H), of GRU's h behind the product, if it is added there
  std::vector<ValueId> peepholes;       // (H): LSTM's of i, o and f, or none
  std::vector<Activation> activations;  // f, g, h
  std::optional<double> clip;           // bounds what the activations of gates get
  bool input_forget = false;            // LSTM: f is 1 - i
  bool linear_before_reset = false;     // GRU: r multiplies the product, not the state
  bool quantizes_state = false;         // LSTM: to bytes by its range, for the product
};

struct CellState {
  ValueId h = kNoId;  // (B, H)
  ValueId c = kNoId;  // (B, H); of LSTM
};

// The state after a step; `x` is the input's part of all gates, with biases: (B, gates * H).
using StepCell = absl::StatusOr<CellState> (*)(Converter&, const Cell&, ValueId x, CellState);

absl::StatusOr<CellState> StepLstm(Converter& c, const Cell& cell, ValueId x, CellState state);
absl::StatusOr<CellState> StepGru(Converter& c, const Cell& cell, ValueId x, CellState state);
absl::StatusOr<CellState> StepRnn(Converter& c, const Cell& cell, ValueId x, CellState state);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_RECURRENT_CELL_H_
