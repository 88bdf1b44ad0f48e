// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/recurrent_cell.h"

#include "compiler/base/status.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/quantized.h"

namespace kiln::onnx_frontend {
namespace {

absl::StatusOr<ValueId> Product(Converter& c, ValueId h, ValueId weight) {
  return c.Op("nn.dense", {h, weight}, {{"units", c.type(weight).shape[0]}});
}

absl::StatusOr<ValueId> Gate(Converter& c, const Cell& cell, ValueId gates, int64_t index) {
  return Piece(c, gates, 1, index * cell.hidden, (index + 1) * cell.hidden);
}

absl::StatusOr<ValueId> Activated(Converter& c, const Cell& cell, size_t f, ValueId x) {
  if (cell.clip.has_value()) {
    KILN_ASSIGN_OR_RETURN(x, c.Op("clip", {x}, {{"a_min", -*cell.clip}, {"a_max", *cell.clip}}));
  }
  return Activate(c, cell.activations[f], x);
}

absl::StatusOr<ValueId> WithPeephole(Converter& c, const Cell& cell, size_t index, ValueId gate,
                                     ValueId state) {
  if (cell.peepholes.empty()) return gate;
  KILN_ASSIGN_OR_RETURN(const ValueId term, c.Op("multiply", {state, cell.peepholes[index]}));
  return c.Op("add", {gate, term});
}

absl::StatusOr<ValueId> OneMinus(Converter& c, ValueId x) {
  return c.Op("subtract", {c.Scalar(x, 1), x});
}

}  // namespace

// i, o, f = f(…), c' = g(…); C = f * C + i * c', h = o * h(C). The peephole of the output gate
// reads the new C.
absl::StatusOr<CellState> StepLstm(Converter& c, const Cell& cell, ValueId x, CellState state) {
  ValueId h = state.h;
  if (cell.quantizes_state) {
    KILN_ASSIGN_OR_RETURN(h, ThroughBytes(c, h));
  }
  KILN_ASSIGN_OR_RETURN(ValueId gates, Product(c, h, cell.recurrence));
  KILN_ASSIGN_OR_RETURN(gates, c.Op("add", {gates, x}));
  KILN_ASSIGN_OR_RETURN(ValueId i, Gate(c, cell, gates, 0));
  KILN_ASSIGN_OR_RETURN(ValueId o, Gate(c, cell, gates, 1));
  KILN_ASSIGN_OR_RETURN(ValueId candidate, Gate(c, cell, gates, 3));
  KILN_ASSIGN_OR_RETURN(i, WithPeephole(c, cell, 0, i, state.c));
  KILN_ASSIGN_OR_RETURN(i, Activated(c, cell, 0, i));
  ValueId f = kNoId;
  if (cell.input_forget) {
    KILN_ASSIGN_OR_RETURN(f, OneMinus(c, i));
  } else {
    KILN_ASSIGN_OR_RETURN(f, Gate(c, cell, gates, 2));
    KILN_ASSIGN_OR_RETURN(f, WithPeephole(c, cell, 2, f, state.c));
    KILN_ASSIGN_OR_RETURN(f, Activated(c, cell, 0, f));
  }
  KILN_ASSIGN_OR_RETURN(candidate, Activated(c, cell, 1, candidate));
  KILN_ASSIGN_OR_RETURN(const ValueId kept, c.Op("multiply", {f, state.c}));
  KILN_ASSIGN_OR_RETURN(const ValueId added, c.Op("multiply", {i, candidate}));
  CellState next;
  KILN_ASSIGN_OR_RETURN(next.c, c.Op("add", {kept, added}));
  KILN_ASSIGN_OR_RETURN(o, WithPeephole(c, cell, 1, o, next.c));
  KILN_ASSIGN_OR_RETURN(o, Activated(c, cell, 0, o));
  // The clip applies only to gates.
  KILN_ASSIGN_OR_RETURN(const ValueId shown, Activate(c, cell.activations[2], next.c));
  KILN_ASSIGN_OR_RETURN(next.h, c.Op("multiply", {o, shown}));
  return next;
}

// z, r = f(…); h' = g(x + (r * h) R) or, with linear_before_reset, g(x + r * (h R + bias));
// h = (1 - z) * h' + z * h.
absl::StatusOr<CellState> StepGru(Converter& c, const Cell& cell, ValueId x, CellState state) {
  const int64_t n = cell.hidden;
  KILN_ASSIGN_OR_RETURN(const ValueId x_gates, Piece(c, x, 1, 0, 2 * n));
  KILN_ASSIGN_OR_RETURN(const ValueId x_candidate, Piece(c, x, 1, 2 * n, 3 * n));
  ValueId weight = cell.recurrence, candidate = kNoId;
  if (!cell.linear_before_reset) {
    KILN_ASSIGN_OR_RETURN(weight, Piece(c, weight, 0, 0, 2 * n));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId product, Product(c, state.h, weight));
  KILN_ASSIGN_OR_RETURN(ValueId gates, Piece(c, product, 1, 0, 2 * n));
  KILN_ASSIGN_OR_RETURN(gates, c.Op("add", {gates, x_gates}));
  KILN_ASSIGN_OR_RETURN(gates, Activated(c, cell, 0, gates));
  KILN_ASSIGN_OR_RETURN(const ValueId z, Gate(c, cell, gates, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId r, Gate(c, cell, gates, 1));
  if (cell.linear_before_reset) {
    KILN_ASSIGN_OR_RETURN(candidate, Piece(c, product, 1, 2 * n, 3 * n));
    if (cell.candidate_bias != kNoId) {
      KILN_ASSIGN_OR_RETURN(candidate, c.Op("add", {candidate, cell.candidate_bias}));
    }
    KILN_ASSIGN_OR_RETURN(candidate, c.Op("multiply", {r, candidate}));
  } else {
    KILN_ASSIGN_OR_RETURN(const ValueId reset, c.Op("multiply", {r, state.h}));
    KILN_ASSIGN_OR_RETURN(weight, Piece(c, cell.recurrence, 0, 2 * n, 3 * n));
    KILN_ASSIGN_OR_RETURN(candidate, Product(c, reset, weight));
  }
  KILN_ASSIGN_OR_RETURN(candidate, c.Op("add", {candidate, x_candidate}));
  KILN_ASSIGN_OR_RETURN(candidate, Activated(c, cell, 1, candidate));
  KILN_ASSIGN_OR_RETURN(const ValueId rest, OneMinus(c, z));
  KILN_ASSIGN_OR_RETURN(const ValueId added, c.Op("multiply", {rest, candidate}));
  KILN_ASSIGN_OR_RETURN(const ValueId kept, c.Op("multiply", {z, state.h}));
  CellState next;
  KILN_ASSIGN_OR_RETURN(next.h, c.Op("add", {added, kept}));
  return next;
}

// h = f(x + h R).
absl::StatusOr<CellState> StepRnn(Converter& c, const Cell& cell, ValueId x, CellState state) {
  KILN_ASSIGN_OR_RETURN(ValueId sum, Product(c, state.h, cell.recurrence));
  KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, x}));
  CellState next;
  KILN_ASSIGN_OR_RETURN(next.h, Activated(c, cell, 0, sum));
  return next;
}

}  // namespace kiln::onnx_frontend
