// SPDX-License-Identifier: Apache-2.0
// Operators with memory: SVDF, and LSTMs, whose steps are unrolled.
#include <array>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;

constexpr int64_t kMaxSteps = 4096;

absl::StatusOr<ValueId> Slice(Converter& c, ValueId x, int64_t axis, int64_t begin, int64_t end) {
  return c.Op("strided_slice", {x},
              {{"begin", AttrValue::Ints({begin})},
               {"end", AttrValue::Ints({end})},
               {"axes", AttrValue::Ints({axis})}});
}

// A low-rank filter over time. Inputs: data (batch, inputs), what it sees of them (filters,
// inputs), how it weighs the last steps (filters, steps), a bias or none, and the variable (batch,
// filters * steps) with what it saw. `rank` filters add up to one output.
absl::Status Svdf(Converter& c) {
  const auto& options = c.Options<schema::SVDFOptions>();
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId features, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId time, c.Input(2));
  KILN_ASSIGN_OR_RETURN(ValueId state, c.Input(4));
  if (c.type(x).rank() != 2 || c.type(features).rank() != 2 || c.type(time).rank() != 2) {
    return Wrong("data and weights",
                 absl::StrCat(c.type(x).ToString(), ", ", c.type(features).ToString(), " and ",
                              c.type(time).ToString()),
                 "rank 2");
  }
  const int64_t batch = c.type(x).shape[0];
  const int64_t filters = c.type(time).shape[0], steps = c.type(time).shape[1];
  const int64_t rank = options.rank();
  if (rank < 1 || filters % rank != 0 || steps < 1 || c.type(features).shape[0] != filters) {
    return Wrong("weights",
                 absl::StrCat(c.type(features).ToString(), " and ", c.type(time).ToString(),
                              " of rank ", rank),
                 "(filters, inputs) and (filters, steps)");
  }
  const Shape flat = c.type(state).shape;
  KILN_ASSIGN_OR_RETURN(ValueId seen, c.Op("nn.dense", {x, features}, {{"units", filters}}));
  KILN_ASSIGN_OR_RETURN(seen, c.Reshape(seen, {batch, filters, 1}));
  // The oldest step makes room for the new one.
  KILN_ASSIGN_OR_RETURN(state, c.Reshape(state, {batch, filters, steps}));
  if (steps > 1) {
    KILN_ASSIGN_OR_RETURN(state, Slice(c, state, 2, 1, steps));
    KILN_ASSIGN_OR_RETURN(state, c.Op("concatenate", {state, seen}, {{"axis", 2}}));
  } else {
    state = seen;
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("multiply", {state, time}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, {{"axis", AttrValue::Ints({2})}}));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {batch, filters / rank, rank}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, {{"axis", AttrValue::Ints({2})}}));
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(3));
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.bias_add", {y, bias}, {{"axis", 1}}));
  }
  KILN_ASSIGN_OR_RETURN(y, c.Activated(y, options.fused_activation_function()));
  KILN_ASSIGN_OR_RETURN(state, c.Reshape(state, flat));
  c.SetVariable(4, state);
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// The operands of an LSTM, by their places.
constexpr int kInputWeights = 1, kRecurrentWeights = 5, kPeepholes = 9, kBiases = 12;
constexpr int kProjection = 16, kProjectionBias = 17, kHidden = 18, kCell = 19, kLayerNorm = 20;
// Gates, in the order of the operands. Peepholes leave out kUpdate.
enum Gate { kIn, kForget, kUpdate, kOut, kGates };

class Lstm {
 public:
  explicit Lstm(Converter& c)
      : c_(c), options_(c.Options<schema::UnidirectionalSequenceLSTMOptions>()) {}

  absl::Status Run() {
    KILN_RETURN_IF_ERROR(Check());
    std::vector<ValueId> steps;
    KILN_ASSIGN_OR_RETURN(hidden_, c_.Input(kHidden));
    KILN_ASSIGN_OR_RETURN(cell_, c_.Input(kCell));
    KILN_RETURN_IF_ERROR(ReadInputs());
    for (int64_t step = 0; step < steps_; ++step) {
      KILN_RETURN_IF_ERROR(Step(step));
      steps.push_back(hidden_);
    }
    const int64_t axis = options_.time_major() ? 0 : 1;
    KILN_ASSIGN_OR_RETURN(const ValueId y, c_.Op("stack", steps, {{"axis", axis}}));
    c_.SetOutput(0, y);
    c_.SetVariable(kHidden, hidden_);
    c_.SetVariable(kCell, cell_);
    return absl::OkStatus();
  }

 private:
  absl::Status Check() {
    if (c_.num_inputs() < kCell + 1) {
      return Wrong("inputs", absl::StrCat(c_.num_inputs()), "20 or 24");
    }
    for (int i = kLayerNorm; i < c_.num_inputs(); ++i) {
      if (c_.HasInput(i)) return absl::UnimplementedError("layer normalisation of gates");
    }
    if (options_.diagonal_recurrent_tensors()) {
      return absl::UnimplementedError("diagonal recurrent weights");
    }
    KILN_ASSIGN_OR_RETURN(const ValueId x, c_.Input(0));
    const Shape shape = c_.type(x).shape;
    if (shape.size() != 3) return Wrong("data", c_.type(x).ToString(), "rank 3");
    steps_ = shape[options_.time_major() ? 0 : 1];
    batch_ = shape[options_.time_major() ? 1 : 0];
    if (steps_ < 1 || steps_ > kMaxSteps) {
      return Wrong("steps", absl::StrCat(steps_), absl::StrCat("1 to ", kMaxSteps));
    }
    // Without an input gate, what is not forgotten is taken in.
    coupled_ = !c_.HasInput(kInputWeights);
    KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kInputWeights + kForget));
    if (c_.type(w).rank() != 2) return Wrong("weights", c_.type(w).ToString(), "rank 2");
    units_ = c_.type(w).shape[0];
    return absl::OkStatus();
  }

  bool Has(Gate gate) const { return gate != kIn || !coupled_; }

  // What the gates see of the data, of all steps at once: (steps, batch, units).
  absl::Status ReadInputs() {
    KILN_ASSIGN_OR_RETURN(ValueId x, c_.Input(0));
    if (!options_.time_major()) {
      KILN_ASSIGN_OR_RETURN(x, c_.Transpose(x, {1, 0, 2}));
    }
    for (Gate gate : {kIn, kForget, kUpdate, kOut}) {
      if (!Has(gate)) continue;
      KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kInputWeights + gate));
      KILN_ASSIGN_OR_RETURN(const ValueId bias, c_.Input(kBiases + gate));
      KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("nn.dense", {x, w}, {{"units", units_}}));
      KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.bias_add", {y, bias}, {{"axis", -1}}));
      seen_[gate] = y;
    }
    return absl::OkStatus();
  }

  // The sum of a gate before its activation. `cell` is what its peephole looks at.
  absl::StatusOr<ValueId> Sum(Gate gate, int64_t step, ValueId cell) {
    KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kRecurrentWeights + gate));
    KILN_ASSIGN_OR_RETURN(ValueId seen, Slice(c_, seen_[gate], 0, step, step + 1));
    KILN_ASSIGN_OR_RETURN(seen, c_.Reshape(seen, {batch_, units_}));
    KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("nn.dense", {hidden_, w}, {{"units", units_}}));
    KILN_ASSIGN_OR_RETURN(y, c_.Op("add", {y, seen}));
    if (gate == kUpdate) return y;
    const int peephole = kPeepholes + (gate == kOut ? 2 : gate);
    if (!c_.HasInput(peephole)) return y;
    KILN_ASSIGN_OR_RETURN(ValueId look, c_.Input(peephole));
    KILN_ASSIGN_OR_RETURN(look, c_.Op("multiply", {cell, look}));
    return c_.Op("add", {y, look});
  }

  absl::StatusOr<ValueId> Sigmoid(Gate gate, int64_t step, ValueId cell) {
    KILN_ASSIGN_OR_RETURN(const ValueId y, Sum(gate, step, cell));
    return c_.Op("sigmoid", {y});
  }

  absl::StatusOr<ValueId> Clipped(ValueId value, double bound) {
    if (!(bound > 0)) return value;
    return c_.Op("clip", {value}, {{"a_min", -bound}, {"a_max", bound}});
  }

  absl::Status Step(int64_t step) {
    KILN_ASSIGN_OR_RETURN(const ValueId forget, Sigmoid(kForget, step, cell_));
    ValueId in = kNoId;
    if (coupled_) {
      KILN_ASSIGN_OR_RETURN(in, c_.Op("subtract", {c_.Scalar(forget, 1), forget}));
    } else {
      KILN_ASSIGN_OR_RETURN(in, Sigmoid(kIn, step, cell_));
    }
    KILN_ASSIGN_OR_RETURN(ValueId update, Sum(kUpdate, step, cell_));
    KILN_ASSIGN_OR_RETURN(update, Activated(update));
    KILN_ASSIGN_OR_RETURN(ValueId kept, c_.Op("multiply", {forget, cell_}));
    KILN_ASSIGN_OR_RETURN(update, c_.Op("multiply", {in, update}));
    KILN_ASSIGN_OR_RETURN(kept, c_.Op("add", {kept, update}));
    KILN_ASSIGN_OR_RETURN(cell_, Clipped(kept, options_.cell_clip()));
    KILN_ASSIGN_OR_RETURN(const ValueId out, Sigmoid(kOut, step, cell_));
    KILN_ASSIGN_OR_RETURN(ValueId y, Activated(cell_));
    KILN_ASSIGN_OR_RETURN(y, c_.Op("multiply", {out, y}));
    if (c_.HasInput(kProjection)) {
      KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kProjection));
      KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.dense", {y, w}));
      if (c_.HasInput(kProjectionBias)) {
        KILN_ASSIGN_OR_RETURN(const ValueId bias, c_.Input(kProjectionBias));
        KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.bias_add", {y, bias}, {{"axis", -1}}));
      }
      KILN_ASSIGN_OR_RETURN(y, Clipped(y, options_.proj_clip()));
    }
    hidden_ = y;
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> Activated(ValueId value) {
    return c_.Activated(value, options_.fused_activation_function());
  }

  Converter& c_;
  const schema::UnidirectionalSequenceLSTMOptions& options_;
  int64_t steps_ = 0, batch_ = 0, units_ = 0;
  bool coupled_ = false;
  std::array<ValueId, kGates> seen_ = {};
  ValueId hidden_ = kNoId, cell_ = kNoId;
};

absl::Status UnidirectionalSequenceLstm(Converter& c) { return Lstm(c).Run(); }

constexpr TfliteOperator kRows[] = {
    {BuiltinOperator::SVDF, Svdf},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, UnidirectionalSequenceLstm},
};

}  // namespace

absl::Span<const TfliteOperator> RecurrentOperators() { return kRows; }

}  // namespace kiln::tflite_frontend
