// SPDX-License-Identifier: Apache-2.0
// Quantized SVDF and LSTM, with the arithmetic of TFLite Micro. Every sum of products is rescaled
// to its final scale before it is added to another one. The cell of an LSTM and its gates are
// int16. The input of a gate's function has the scale 2^-12, and the output 2^-15.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/recurrent.h"
#include "compiler/frontend/tflite/wide_sums.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;

constexpr double kGateIn = 0x1p-12, kGateOut = 0x1p-15;

Quantization Plain(double scale) {
  return {.scales = {static_cast<float>(scale)}, .zero_points = {0}};
}

absl::StatusOr<QuantizedOperand> Operand(const Converter& c, int i) {
  KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(i));
  KILN_ASSIGN_OR_RETURN(const Quantization q, QuantizationOfInput(c, i));
  return QuantizedOperand{value, q};
}

absl::Status CheckDType(const Converter& c, absl::string_view what, ValueId value, DType wanted) {
  const DType found = c.type(value).dtype;
  if (found == wanted) return absl::OkStatus();
  return Wrong(absl::StrCat("the dtype of ", what), found.ToString(), wanted.ToString());
}

class QuantizedLstmSteps {
 public:
  explicit QuantizedLstmSteps(Converter& c)
      : c_(c), options_(c.Options<schema::UnidirectionalSequenceLSTMOptions>()) {}

  absl::Status Run() {
    KILN_ASSIGN_OR_RETURN(extents_, CheckLstm(c_));
    KILN_RETURN_IF_ERROR(Check());
    KILN_RETURN_IF_ERROR(ReadInputs());
    std::vector<ValueId> steps;
    for (int64_t step = 0; step < extents_.steps; ++step) {
      KILN_RETURN_IF_ERROR(Step(step));
      steps.push_back(hidden_.value);
    }
    const int64_t axis = options_.time_major() ? 0 : 1;
    KILN_ASSIGN_OR_RETURN(const ValueId y, c_.Op("stack", steps, {{"axis", axis}}));
    c_.SetOutput(0, y);
    KILN_RETURN_IF_ERROR(Keep(kHidden, hidden_.value));
    return Keep(kCell, cell_);
  }

 private:
  absl::Status Check() {
    for (int i : {kPeepholes, kPeepholes + 1, kPeepholes + 2, kProjection, kProjectionBias}) {
      if (c_.HasInput(i)) {
        return absl::UnimplementedError("peepholes and projections of quantized numbers");
      }
    }
    if (!c_.HasInput(kInputWeights)) {
      return absl::UnimplementedError("quantized numbers without an input gate");
    }
    if (options_.fused_activation_function() != schema::Activation::TANH) {
      return absl::UnimplementedError("an activation other than TANH of quantized numbers");
    }
    KILN_ASSIGN_OR_RETURN(hidden_, Operand(c_, kHidden));
    KILN_ASSIGN_OR_RETURN(const QuantizedOperand cell, Operand(c_, kCell));
    KILN_RETURN_IF_ERROR(CheckDType(c_, "the cell", cell.value, kI16));
    cell_scale_ = static_cast<double>(cell.quantization.scales[0]);
    int exponent = 0;
    if (std::frexp(cell_scale_, &exponent) != 0.5) {
      return Wrong("the scale of the cell", absl::StrCat(cell_scale_), "a power of 2");
    }
    KILN_ASSIGN_OR_RETURN(x_, Operand(c_, 0));
    KILN_RETURN_IF_ERROR(
        CheckDType(c_, "the hidden state", hidden_.value, c_.type(x_.value).dtype));
    const Shape state = {extents_.batch, extents_.units};
    KILN_ASSIGN_OR_RETURN(hidden_.value, c_.Reshape(hidden_.value, state));
    KILN_ASSIGN_OR_RETURN(cell_, c_.Reshape(cell.value, state));
    return absl::OkStatus();
  }

  // Sets the new value of a variable, in the shape of the variable.
  absl::Status Keep(int input, ValueId value) {
    KILN_ASSIGN_OR_RETURN(const ValueId before, c_.Input(input));
    KILN_ASSIGN_OR_RETURN(value, c_.Reshape(value, c_.type(before).shape));
    c_.SetVariable(input, value);
    return absl::OkStatus();
  }

  // Returns the products of one factor of a gate, rescaled for its function.
  absl::StatusOr<ValueId> GateSums(const QuantizedOperand& x, int weight_input, int bias_input) {
    KILN_ASSIGN_OR_RETURN(const QuantizedOperand w, Operand(c_, weight_input));
    const DType sums = c_.type(x.value).dtype.bits == 16 ? kI64 : kI32;
    KILN_ASSIGN_OR_RETURN(ValueId y, QnnSums(c_, "dense", x, w, sums, {{"units", extents_.units}}));
    if (bias_input >= 0) {
      KILN_ASSIGN_OR_RETURN(const ValueId bias, c_.Input(bias_input));
      KILN_RETURN_IF_ERROR(CheckDType(c_, "the bias", bias, sums));
      KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.bias_add", {y, bias}, {{"axis", -1}}));
    }
    const float product = x.quantization.scales[0] * w.quantization.scales[0];
    return Rescaled(c_, y, {static_cast<double>(product) / kGateIn}, 0, kI16);
  }

  // Computes the gates' part of the data, for all steps at once: (steps, batch, units).
  absl::Status ReadInputs() {
    QuantizedOperand x = x_;
    if (!options_.time_major()) {
      KILN_ASSIGN_OR_RETURN(x.value, c_.Transpose(x.value, {1, 0, 2}));
    }
    for (Gate gate : {kIn, kForget, kUpdate, kOut}) {
      KILN_ASSIGN_OR_RETURN(seen_[gate], GateSums(x, kInputWeights + gate, kBiases + gate));
    }
    return absl::OkStatus();
  }

  // Returns a + b in int16, saturated.
  absl::StatusOr<ValueId> Added(ValueId a, ValueId b) {
    KILN_ASSIGN_OR_RETURN(a, c_.Op("cast", {a}, {{"dtype", "int32"}}));
    KILN_ASSIGN_OR_RETURN(b, c_.Op("cast", {b}, {{"dtype", "int32"}}));
    KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("add", {a, b}));
    KILN_ASSIGN_OR_RETURN(y, c_.Op("clip", {y}, {{"a_min", -32768.0}, {"a_max", 32767.0}}));
    return c_.Op("cast", {y}, {{"dtype", "int16"}});
  }

  // Returns a * b of int16, multiplied by the factor.
  absl::StatusOr<ValueId> Multiplied(ValueId a, ValueId b, double factor, int64_t zero_point,
                                     DType dtype) {
    KILN_ASSIGN_OR_RETURN(a, c_.Op("cast", {a}, {{"dtype", "int32"}}));
    KILN_ASSIGN_OR_RETURN(b, c_.Op("cast", {b}, {{"dtype", "int32"}}));
    KILN_ASSIGN_OR_RETURN(const ValueId y, c_.Op("multiply", {a, b}));
    return Rescaled(c_, y, {factor}, zero_point, dtype);
  }

  absl::StatusOr<ValueId> Saturated(absl::string_view function, ValueId x, double scale) {
    const Quantization in = Plain(scale), out = Plain(kGateOut);
    return c_.Op(absl::StrCat("qnn.", function),
                 {x, ScaleOf(c_, in), ZeroPointOf(c_, in), ScaleOf(c_, out), ZeroPointOf(c_, out)},
                 {{"rounding", "TFLITE"}});
  }

  absl::StatusOr<ValueId> GateValue(Gate gate, int64_t step) {
    KILN_ASSIGN_OR_RETURN(const ValueId seen, AtStep(c_, seen_[gate], step));
    KILN_ASSIGN_OR_RETURN(const ValueId before, GateSums(hidden_, kRecurrentWeights + gate, -1));
    KILN_ASSIGN_OR_RETURN(const ValueId sum, Added(seen, before));
    return Saturated(gate == kUpdate ? "tanh" : "sigmoid", sum, kGateIn);
  }

  absl::Status Step(int64_t step) {
    std::array<ValueId, kGates> gates = {};
    for (Gate gate : {kIn, kForget, kUpdate, kOut}) {
      KILN_ASSIGN_OR_RETURN(gates[gate], GateValue(gate, step));
    }
    KILN_ASSIGN_OR_RETURN(const ValueId kept, Multiplied(gates[kForget], cell_, kGateOut, 0, kI16));
    KILN_ASSIGN_OR_RETURN(
        const ValueId update,
        Multiplied(gates[kIn], gates[kUpdate], kGateOut * kGateOut / cell_scale_, 0, kI16));
    KILN_ASSIGN_OR_RETURN(cell_, Added(kept, update));
    if (options_.cell_clip() > 0) {
      const double bound =
          std::min(std::trunc(static_cast<double>(options_.cell_clip()) / cell_scale_), 32767.0);
      KILN_ASSIGN_OR_RETURN(cell_, c_.Op("clip", {cell_}, {{"a_min", -bound}, {"a_max", bound}}));
    }
    KILN_ASSIGN_OR_RETURN(const ValueId shown, Saturated("tanh", cell_, cell_scale_));
    const Quantization& hidden = hidden_.quantization;
    const double factor = kGateOut * kGateOut / static_cast<double>(hidden.scales[0]);
    KILN_ASSIGN_OR_RETURN(
        hidden_.value,
        Multiplied(shown, gates[kOut], factor, hidden.zero_points[0], c_.type(x_.value).dtype));
    return absl::OkStatus();
  }

  Converter& c_;
  const schema::UnidirectionalSequenceLSTMOptions& options_;
  LstmExtents extents_ = {};
  std::array<ValueId, kGates> seen_ = {};
  QuantizedOperand x_ = {}, hidden_ = {};
  ValueId cell_ = kNoId;
  double cell_scale_ = 1;
};

}  // namespace

absl::Status QuantizedLstm(Converter& c) { return QuantizedLstmSteps(c).Run(); }

// The state and the time weights are both int8 or both int16. The only bound is the range of the
// output's dtype: its zero point has the effect of a fused activation.
absl::Status QuantizedSvdf(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const SvdfExtents extents, CheckSvdf(c));
  const auto& [batch, filters, steps, rank] = extents;
  KILN_ASSIGN_OR_RETURN(const QuantizedOperand x, Operand(c, kSvdfData));
  KILN_ASSIGN_OR_RETURN(const QuantizedOperand features, Operand(c, kSvdfFeatures));
  KILN_ASSIGN_OR_RETURN(const QuantizedOperand time, Operand(c, kSvdfTime));
  KILN_ASSIGN_OR_RETURN(QuantizedOperand state, Operand(c, kSvdfState));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  const DType state_dtype = c.type(state.value).dtype;
  KILN_RETURN_IF_ERROR(CheckDType(c, "data", x.value, kI8));
  KILN_RETURN_IF_ERROR(CheckDType(c, "the weights of time", time.value, state_dtype));

  KILN_ASSIGN_OR_RETURN(ValueId seen, QnnSums(c, "dense", x, features, kI32, {{"units", filters}}));
  const auto scale = [](const QuantizedOperand& operand) { return operand.quantization.scales[0]; };
  KILN_ASSIGN_OR_RETURN(
      seen, Rescaled(c, seen, {static_cast<double>(scale(x) * scale(features) / scale(state))},
                     state.quantization.zero_points[0], state_dtype));
  KILN_ASSIGN_OR_RETURN(state.value, SvdfState(c, extents, seen));
  KILN_ASSIGN_OR_RETURN(const ValueId kept, c.Reshape(state.value, {batch, filters * steps}));
  c.SetVariable(kSvdfState, kept);

  // Products of two int16 fill 31 bits, so a sum of three may exceed int32.
  const ProductOperands sums = {.x = state.value,
                                .weight = time.value,
                                .x_input = kSvdfState,
                                .weight_input = kSvdfTime,
                                .bias_input = kSvdfBias};
  KILN_ASSIGN_OR_RETURN(const double largest, LargestSum(c, sums, state.quantization, Plain(1)));
  const bool beyond_int32 = BeyondInt32(static_cast<double>(rank) * largest);
  const DType dtype = beyond_int32 ? kI64 : kI32;
  KILN_ASSIGN_OR_RETURN(ValueId y, CentredAs(c, state, dtype));
  KILN_ASSIGN_OR_RETURN(const ValueId weights,
                        c.Op("cast", {time.value}, {{"dtype", dtype.ToString()}}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, weights}));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {batch, filters / rank, rank * steps}));
  KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, {{"axis", AttrValue::Ints({2})}}));
  if (c.HasInput(kSvdfBias)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(kSvdfBias));
    KILN_RETURN_IF_ERROR(CheckDType(c, "the bias", bias, kI32));
    if (beyond_int32) {
      KILN_ASSIGN_OR_RETURN(bias, c.Op("cast", {bias}, {{"dtype", "int64"}}));
    }
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.bias_add", {y, bias}, {{"axis", 1}}));
  }
  return c.Output(0, RescaledSums(c, y, beyond_int32,
                                  {static_cast<double>(scale(state) * scale(time) / out.scales[0])},
                                  out.zero_points[0], kI8));
}

}  // namespace kiln::tflite_frontend
