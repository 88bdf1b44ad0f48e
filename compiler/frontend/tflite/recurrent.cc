// SPDX-License-Identifier: Apache-2.0
// Operators with memory: SVDF, and LSTM with unrolled steps.
#include "compiler/frontend/tflite/recurrent.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

absl::StatusOr<ValueId> SliceOfAxis(Converter& c, ValueId x, int64_t axis, int64_t begin,
                                    int64_t end) {
  return c.Op("strided_slice", {x},
              {{"begin", AttrValue::Ints({begin})},
               {"end", AttrValue::Ints({end})},
               {"axes", AttrValue::Ints({axis})}});
}

absl::Status Svdf(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(kSvdfData));
  if (c.type(x).dtype.is_integral()) return QuantizedSvdf(c);
  KILN_ASSIGN_OR_RETURN(const ValueId features, c.Input(kSvdfFeatures));
  KILN_ASSIGN_OR_RETURN(const ValueId time, c.Input(kSvdfTime));
  KILN_ASSIGN_OR_RETURN(const SvdfExtents extents, CheckSvdf(c));
  const auto& [batch, filters, steps, rank] = extents;
  KILN_ASSIGN_OR_RETURN(const ValueId seen, c.Op("nn.dense", {x, features}, {{"units", filters}}));
  KILN_ASSIGN_OR_RETURN(ValueId state, SvdfState(c, extents, seen));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("multiply", {state, time}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, {{"axis", AttrValue::Ints({2})}}));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {batch, filters / rank, rank}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, {{"axis", AttrValue::Ints({2})}}));
  if (c.HasInput(kSvdfBias)) {
    KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(kSvdfBias));
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.bias_add", {y, bias}, {{"axis", 1}}));
  }
  const auto activation = c.Options<schema::SVDFOptions>().fused_activation_function();
  KILN_ASSIGN_OR_RETURN(y, c.Activated(y, activation));
  KILN_ASSIGN_OR_RETURN(state, c.Reshape(state, {batch, filters * steps}));
  c.SetVariable(kSvdfState, state);
  return c.Output(0, y);
}

class Lstm {
 public:
  explicit Lstm(Converter& c)
      : c_(c), options_(c.Options<schema::UnidirectionalSequenceLSTMOptions>()) {}

  absl::Status Run() {
    KILN_ASSIGN_OR_RETURN(extents_, CheckLstm(c_));
    // Without an input gate, its value is 1 minus the forget gate.
    coupled_ = !c_.HasInput(kInputWeights);
    std::vector<ValueId> steps;
    KILN_ASSIGN_OR_RETURN(hidden_, c_.Input(kHidden));
    KILN_ASSIGN_OR_RETURN(cell_, c_.Input(kCell));
    KILN_RETURN_IF_ERROR(ReadInputs());
    for (int64_t step = 0; step < extents_.steps; ++step) {
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
  bool Has(Gate gate) const { return gate != kIn || !coupled_; }

  // Computes the gates' part of the data, for all steps at once: (steps, batch, units).
  absl::Status ReadInputs() {
    KILN_ASSIGN_OR_RETURN(ValueId x, c_.Input(0));
    if (!options_.time_major()) {
      KILN_ASSIGN_OR_RETURN(x, c_.Transpose(x, {1, 0, 2}));
    }
    for (Gate gate : {kIn, kForget, kUpdate, kOut}) {
      if (!Has(gate)) continue;
      KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kInputWeights + gate));
      KILN_ASSIGN_OR_RETURN(const ValueId bias, c_.Input(kBiases + gate));
      KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("nn.dense", {x, w}, {{"units", extents_.units}}));
      KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.bias_add", {y, bias}, {{"axis", -1}}));
      seen_[gate] = y;
    }
    return absl::OkStatus();
  }

  // Returns the sum of a gate before its activation. Its peephole reads `cell`.
  absl::StatusOr<ValueId> Sum(Gate gate, int64_t step, ValueId cell) {
    KILN_ASSIGN_OR_RETURN(const ValueId w, c_.Input(kRecurrentWeights + gate));
    KILN_ASSIGN_OR_RETURN(const ValueId seen, AtStep(c_, seen_[gate], step));
    KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("nn.dense", {hidden_, w}, {{"units", extents_.units}}));
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
  LstmExtents extents_ = {};
  bool coupled_ = false;
  std::array<ValueId, kGates> seen_ = {};
  ValueId hidden_ = kNoId, cell_ = kNoId;
};

absl::Status UnidirectionalSequenceLstm(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.type(x).dtype.is_integral() ? QuantizedLstm(c) : Lstm(c).Run();
}

constexpr TfliteOperator kRecurrentRows[] = {
    {BuiltinOperator::SVDF, Svdf, nullptr, Quantised::kComputes8},
    {BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, UnidirectionalSequenceLstm, nullptr,
     Quantised::kComputes},
};

}  // namespace

absl::StatusOr<SvdfExtents> CheckSvdf(const Converter& c) {
  std::array<TensorType, 3> types;
  for (int i : {kSvdfData, kSvdfFeatures, kSvdfTime}) {
    KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(i));
    types[static_cast<size_t>(i)] = c.type(value);
  }
  const auto& [x, features, time] = types;
  if (x.rank() != 2 || features.rank() != 2 || time.rank() != 2) {
    return Wrong("data and weights",
                 absl::StrCat(x.ToString(), ", ", features.ToString(), " and ", time.ToString()),
                 "rank 2");
  }
  const SvdfExtents extents = {.batch = x.shape[0],
                               .filters = time.shape[0],
                               .steps = time.shape[1],
                               .rank = c.Options<schema::SVDFOptions>().rank()};
  if (extents.rank < 1 || extents.filters % extents.rank != 0 || extents.steps < 1 ||
      features.shape[0] != extents.filters) {
    return Wrong(
        "weights",
        absl::StrCat(features.ToString(), " and ", time.ToString(), " of rank ", extents.rank),
        "(filters, inputs) and (filters, steps)");
  }
  return extents;
}

absl::StatusOr<ValueId> SvdfState(Converter& c, const SvdfExtents& extents, ValueId seen) {
  const auto& [batch, filters, steps, rank] = extents;
  KILN_ASSIGN_OR_RETURN(seen, c.Reshape(seen, {batch, filters, 1}));
  KILN_ASSIGN_OR_RETURN(ValueId state, c.Input(kSvdfState));
  KILN_ASSIGN_OR_RETURN(state, c.Reshape(state, {batch, filters, steps}));
  if (steps == 1) return seen;
  KILN_ASSIGN_OR_RETURN(state, SliceOfAxis(c, state, 2, 1, steps));
  return c.Op("concatenate", {state, seen}, {{"axis", 2}});
}

absl::StatusOr<LstmExtents> CheckLstm(const Converter& c) {
  const auto& options = c.Options<schema::UnidirectionalSequenceLSTMOptions>();
  if (c.num_inputs() < kCell + 1) return Wrong("inputs", absl::StrCat(c.num_inputs()), "20 or 24");
  for (int i = kLayerNorm; i < c.num_inputs(); ++i) {
    if (c.HasInput(i)) return absl::UnimplementedError("layer normalization of gates");
  }
  if (options.diagonal_recurrent_tensors()) {
    return absl::UnimplementedError("diagonal recurrent weights");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  if (shape.size() != 3) return Wrong("data", c.type(x).ToString(), "rank 3");
  LstmExtents extents = {.steps = shape[options.time_major() ? 0 : 1],
                         .batch = shape[options.time_major() ? 1 : 0],
                         .units = 0};
  if (extents.steps < 1 || extents.steps > kMaxRecurrentSteps) {
    return Wrong("steps", absl::StrCat(extents.steps), absl::StrCat("1 to ", kMaxRecurrentSteps));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(kInputWeights + kForget));
  if (c.type(w).rank() != 2) return Wrong("weights", c.type(w).ToString(), "rank 2");
  extents.units = c.type(w).shape[0];
  return extents;
}

absl::StatusOr<ValueId> AtStep(Converter& c, ValueId x, int64_t step) {
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(x, SliceOfAxis(c, x, 0, step, step + 1));
  return c.Reshape(x, {shape[1], shape[2]});
}

absl::Span<const TfliteOperator> RecurrentOperators() { return kRecurrentRows; }

}  // namespace kiln::tflite_frontend
