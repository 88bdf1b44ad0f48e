// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN, unrolled over the sequence. The input's part of all steps is one matrix
// product. The steps call the same functions, so a long sequence costs calls but no code.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/quantized.h"
#include "compiler/frontend/onnx/recurrent_cell.h"

namespace kiln::onnx_frontend {
namespace {

struct Kind {
  StepCell step;
  int64_t gates;
  std::vector<std::string> activations;  // defaults for one direction
  bool has_cell_state;
  // com.microsoft's operator. W and R are bytes with the gates last, and inputs 8 to 11 are their
  // scales and zero points. The data is quantized to bytes by its range.
  bool is_quantized = false;
};

class Recurrent {
 public:
  Recurrent(Converter& c, Kind kind) : c_(c), kind_(std::move(kind)) {}

  absl::Status Run() {
    KILN_RETURN_IF_ERROR(ReadForm());
    KILN_RETURN_IF_ERROR(ReadLengths());
    std::vector<ValueId> sequences, last_h, last_c;
    for (int64_t d = 0; d < directions_; ++d) {
      std::vector<ValueId> steps;
      KILN_ASSIGN_OR_RETURN(const CellState last, RunDirection(d, steps));
      last_h.push_back(last.h);
      last_c.push_back(last.c);
      if (!c_.WantsOutput(0)) continue;
      KILN_ASSIGN_OR_RETURN(ValueId sequence, Stacked(c_, steps, 0));
      KILN_ASSIGN_OR_RETURN(sequence, c_.Reshape(sequence, {steps_, 1, batch_, hidden_}));
      sequences.push_back(sequence);
    }
    if (c_.WantsOutput(0)) {
      KILN_ASSIGN_OR_RETURN(ValueId y, Joined(c_, sequences, 1));
      if (batch_first_) {
        KILN_ASSIGN_OR_RETURN(y, Permuted(c_, y, {2, 0, 1, 3}));
      }
      c_.SetOutput(0, y);
    }
    KILN_RETURN_IF_ERROR(SetLast(1, last_h));
    return kind_.has_cell_state ? SetLast(2, last_c) : absl::OkStatus();
  }

 private:
  absl::Status CheckShape(ValueId value, const char* what, const Shape& wanted) const {
    if (c_.type(value).shape == wanted) return absl::OkStatus();
    return Wrong(what, c_.type(value).ToString(), ShapeToString(wanted));
  }

  absl::Status ReadForm() {
    if (!kind_.is_quantized && c_.opset() < 7)
      return absl::UnimplementedError("the forms of opsets below 7");
    batch_first_ = c_.Int("layout", 0) != 0;
    KILN_ASSIGN_OR_RETURN(x_, c_.Input(0));
    KILN_ASSIGN_OR_RETURN(weights_, c_.Input(1));
    KILN_ASSIGN_OR_RETURN(recurrences_, c_.Input(2));
    if (c_.type(x_).rank() != 3 || c_.type(recurrences_).rank() != 3) {
      return Wrong("X and R", c_.type(x_).ToString() + " and " + c_.type(recurrences_).ToString(),
                   "tensors of rank 3");
    }
    if (batch_first_) {
      KILN_ASSIGN_OR_RETURN(x_, Permuted(c_, x_, {1, 0, 2}));
    }
    const Shape shape = c_.type(x_).shape;
    steps_ = shape[0];
    batch_ = shape[1];
    hidden_ = c_.type(recurrences_).shape[kind_.is_quantized ? 1 : 2];
    const std::string direction = c_.String("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      return Wrong("direction", direction, "forward, reverse or bidirectional");
    }
    directions_ = direction == "bidirectional" ? 2 : 1;
    is_reverse_ = direction == "reverse";
    if (c_.Int("hidden_size", hidden_) != hidden_) {
      return Wrong("hidden_size", absl::StrCat(c_.Int("hidden_size", 0)),
                   absl::StrCat(hidden_, " as R has"));
    }
    const int64_t gates = kind_.gates * hidden_;
    const auto matrices = [&](int64_t columns) {
      return kind_.is_quantized ? Shape{directions_, columns, gates}
                                : Shape{directions_, gates, columns};
    };
    KILN_RETURN_IF_ERROR(CheckShape(weights_, "W", matrices(shape[2])));
    KILN_RETURN_IF_ERROR(CheckShape(recurrences_, "R", matrices(hidden_)));
    if (steps_ < 1 || batch_ < 1 || hidden_ < 1) {
      return Wrong("X", c_.type(x_).ToString(), "one step or more of a batch of one or more");
    }
    if (steps_ > kMaxRecurrentSteps) {
      return absl::UnimplementedError(
          absl::StrCat("a recurrent operator is written out over its sequence: found ", steps_,
                       " steps, wanted at most ", kMaxRecurrentSteps,
                       "; give it shorter sequences and carry ", "the state from one to the next"));
    }
    std::vector<std::string> defaults;
    for (int64_t d = 0; d < directions_; ++d) {
      defaults.insert(defaults.end(), kind_.activations.begin(), kind_.activations.end());
    }
    KILN_ASSIGN_OR_RETURN(activations_, ActivationsOf(c_, defaults, defaults.size()));
    return absl::OkStatus();
  }

  absl::Status ReadLengths() {
    if (!c_.HasInput(4)) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(lengths_, c_.Input(4));
    KILN_RETURN_IF_ERROR(CheckShape(lengths_, "sequence_lens", {batch_}));
    KILN_ASSIGN_OR_RETURN(const std::optional<Tensor> known, c_.KnownValue(lengths_));
    if (!known.has_value()) {
      shortest_ = 0;
      return absl::OkStatus();
    }
    const std::vector<int64_t> lengths = known->ToInts();
    shortest_ = *std::min_element(lengths.begin(), lengths.end());
    return absl::OkStatus();
  }

  // Returns bools (B, 1): true if the sequence has a step `t`. kNoId if all sequences have it.
  absl::StatusOr<ValueId> AliveAt(int64_t t) {
    if (lengths_ == kNoId || t < shortest_) return kNoId;
    const TensorType type = c_.type(lengths_);
    const ValueId step = c_.Constant(Tensor::Scalar(type.dtype, static_cast<double>(t)));
    KILN_ASSIGN_OR_RETURN(const ValueId lengths, c_.Reshape(lengths_, {batch_, 1}));
    return c_.Op("less", {step, lengths});
  }

  // Returns the direction's part of an optional input (directions, …), or kNoId if the input is
  // absent.
  absl::StatusOr<ValueId> OwnOf(int input, int64_t d, const char* what, const Shape& wanted) {
    if (!c_.HasInput(input)) return kNoId;
    KILN_ASSIGN_OR_RETURN(const ValueId all, c_.Input(input));
    Shape shape = wanted;
    shape.insert(shape.begin(), directions_);
    KILN_RETURN_IF_ERROR(CheckShape(all, what, shape));
    return PieceAt(c_, all, 0, d);
  }

  absl::StatusOr<ValueId> InitialState(int input, int64_t d, const char* what) {
    const Shape shape = {batch_, hidden_};
    if (!c_.HasInput(input)) {
      return c_.Constant(Tensor::Filled({shape, c_.type(x_).dtype}, 0));
    }
    if (!batch_first_) return OwnOf(input, d, what, shape);
    KILN_ASSIGN_OR_RETURN(const ValueId all, c_.Input(input));
    KILN_RETURN_IF_ERROR(CheckShape(all, what, {batch_, directions_, hidden_}));
    return PieceAt(c_, all, 1, d);
  }

  // Returns the direction's part of W or R, (gates * H, …). Bytes have one scale, or one per row.
  absl::StatusOr<ValueId> Matrix(ValueId all, int64_t d, int scale_input) {
    KILN_ASSIGN_OR_RETURN(ValueId own, PieceAt(c_, all, 0, d));
    if (!kind_.is_quantized) return own;
    KILN_ASSIGN_OR_RETURN(own, Permuted(c_, own, {1, 0}));
    const Shape rows = {directions_, kind_.gates * hidden_};
    ValueId operands[2];  // scale and zero point
    for (int k = 0; k < 2; ++k) {
      KILN_ASSIGN_OR_RETURN(const ValueId input, c_.Input(scale_input + k));
      if (c_.type(input).shape != rows) {
        KILN_RETURN_IF_ERROR(CheckShape(input, k == 0 ? "scales" : "zero points", {directions_}));
      }
      KILN_ASSIGN_OR_RETURN(operands[k], PieceAt(c_, input, 0, d));
    }
    KILN_ASSIGN_OR_RETURN(operands[1], c_.Op("cast", {operands[1]}, {{"dtype", "int32"}}));
    KILN_RETURN_IF_ERROR(c_.Fold({&operands[0], &operands[1]}));
    return c_.Op("qnn.dequantize", {own, operands[0], operands[1]}, {{"axis", 0}});
  }

  absl::StatusOr<Cell> CellOf(int64_t d) {
    Cell cell;
    cell.hidden = hidden_;
    cell.quantizes_state = kind_.is_quantized;
    KILN_ASSIGN_OR_RETURN(cell.recurrence, Matrix(recurrences_, d, 10));
    const auto first = activations_.begin() + d * static_cast<int64_t>(kind_.activations.size());
    cell.activations.assign(first, first + static_cast<ptrdiff_t>(kind_.activations.size()));
    if (c_.HasAttr("clip")) {
      cell.clip = c_.Float("clip", 0);
      if (!(*cell.clip > 0)) return Wrong("clip", absl::StrCat(*cell.clip), "a positive number");
    }
    cell.input_forget = c_.Int("input_forget", 0) != 0;
    cell.linear_before_reset = c_.Int("linear_before_reset", 0) != 0;
    if (kind_.has_cell_state) {
      KILN_ASSIGN_OR_RETURN(const ValueId all, OwnOf(7, d, "P", {3 * hidden_}));
      for (int64_t k = 0; all != kNoId && k < 3; ++k) {
        KILN_ASSIGN_OR_RETURN(cell.peepholes.emplace_back(),
                              Piece(c_, all, 0, k * hidden_, (k + 1) * hidden_));
      }
    }
    return cell;
  }

  // Returns the input's part of the gates of all steps, (T, B, gates * H), including the biases
  // that can be added at this point.
  absl::StatusOr<ValueId> Projected(int64_t d, Cell& cell) {
    const int64_t gates = kind_.gates * hidden_;
    KILN_ASSIGN_OR_RETURN(const ValueId weight, Matrix(weights_, d, 8));
    KILN_ASSIGN_OR_RETURN(ValueId rows, c_.Reshape(x_, {steps_ * batch_, c_.type(x_).shape[2]}));
    if (kind_.is_quantized) {
      KILN_ASSIGN_OR_RETURN(rows, ThroughBytes(c_, rows));
    }
    KILN_ASSIGN_OR_RETURN(ValueId y, c_.Op("nn.dense", {rows, weight}, {{"units", gates}}));
    KILN_ASSIGN_OR_RETURN(const ValueId biases, OwnOf(3, d, "B", {2 * gates}));
    if (biases != kNoId) {
      KILN_ASSIGN_OR_RETURN(ValueId bias, Piece(c_, biases, 0, 0, gates));
      KILN_ASSIGN_OR_RETURN(ValueId of_state, Piece(c_, biases, 0, gates, 2 * gates));
      if (cell.linear_before_reset) {
        // The last gate of GRU multiplies its part by r before the addition.
        KILN_ASSIGN_OR_RETURN(cell.candidate_bias,
                              Piece(c_, of_state, 0, 2 * hidden_, 3 * hidden_));
        KILN_ASSIGN_OR_RETURN(of_state, Piece(c_, of_state, 0, 0, 2 * hidden_));
        const ValueId zeros = c_.Constant(Tensor::Filled({{hidden_}, c_.type(bias).dtype}, 0));
        KILN_ASSIGN_OR_RETURN(of_state, Joined(c_, {of_state, zeros}, 0));
      }
      KILN_ASSIGN_OR_RETURN(bias, c_.Op("add", {bias, of_state}));
      KILN_ASSIGN_OR_RETURN(y, c_.Op("nn.bias_add", {y, bias}, {{"axis", 1}}));
    }
    return c_.Reshape(y, {steps_, batch_, gates});
  }

  // Returns the state after the last step. Sets `outputs` to h of every step, in the order of the
  // sequence.
  absl::StatusOr<CellState> RunDirection(int64_t d, std::vector<ValueId>& outputs) {
    KILN_ASSIGN_OR_RETURN(Cell cell, CellOf(d));
    KILN_ASSIGN_OR_RETURN(const ValueId projected, Projected(d, cell));
    KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, AllPieces(c_, projected, 0));
    CellState state;
    KILN_ASSIGN_OR_RETURN(state.h, InitialState(5, d, "initial_h"));
    if (kind_.has_cell_state) {
      KILN_ASSIGN_OR_RETURN(state.c, InitialState(6, d, "initial_c"));
    }
    const ValueId zero = c_.Constant(Tensor::Filled(c_.type(state.h), 0));
    outputs.resize(static_cast<size_t>(steps_));
    for (int64_t i = 0; i < steps_; ++i) {
      // In the reverse direction, a shorter sequence starts at its own end.
      const int64_t t = is_reverse_ || d == 1 ? steps_ - 1 - i : i;
      KILN_ASSIGN_OR_RETURN(CellState next,
                            kind_.step(c_, cell, inputs[static_cast<size_t>(t)], state));
      ValueId output = next.h;
      KILN_ASSIGN_OR_RETURN(const ValueId alive, AliveAt(t));
      if (alive != kNoId) {
        KILN_ASSIGN_OR_RETURN(output, c_.Op("where", {alive, next.h, zero}));
        KILN_ASSIGN_OR_RETURN(next.h, c_.Op("where", {alive, next.h, state.h}));
        if (kind_.has_cell_state) {
          KILN_ASSIGN_OR_RETURN(next.c, c_.Op("where", {alive, next.c, state.c}));
        }
      }
      outputs[static_cast<size_t>(t)] = output;
      state = next;
    }
    return state;
  }

  // Sets output i of the node to the last states of the directions.
  absl::Status SetLast(int i, const std::vector<ValueId>& states) {
    if (!c_.WantsOutput(i)) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(ValueId y, Stacked(c_, states, 0));
    if (batch_first_) {
      KILN_ASSIGN_OR_RETURN(y, Permuted(c_, y, {1, 0, 2}));
    }
    c_.SetOutput(i, y);
    return absl::OkStatus();
  }

  Converter& c_;
  const Kind kind_;
  ValueId x_ = kNoId, weights_ = kNoId, recurrences_ = kNoId, lengths_ = kNoId;
  int64_t steps_ = 0, batch_ = 0, hidden_ = 0, directions_ = 1, shortest_ = 0;
  bool batch_first_ = false, is_reverse_ = false;
  std::vector<Activation> activations_;
};

absl::Status Lstm(Converter& c) {
  return Recurrent(c, {StepLstm, 4, {"Sigmoid", "Tanh", "Tanh"}, true}).Run();
}
absl::Status Gru(Converter& c) {
  return Recurrent(c, {StepGru, 3, {"Sigmoid", "Tanh"}, false}).Run();
}
absl::Status Rnn(Converter& c) { return Recurrent(c, {StepRnn, 1, {"Tanh"}, false}).Run(); }

absl::Status DynamicQuantizeLstm(Converter& c) {
  return Recurrent(c, {StepLstm, 4, {"Sigmoid", "Tanh", "Tanh"}, true, true}).Run();
}

constexpr OnnxOperator kRecurrentRows[] = {
    {"DynamicQuantizeLSTM", DynamicQuantizeLstm, nullptr, kMicrosoftDomain},
    Composite("GRU", Gru),
    Composite("LSTM", Lstm),
    Composite("RNN", Rnn),
};

}  // namespace

absl::Span<const OnnxOperator> RecurrentOperators() { return kRecurrentRows; }

}  // namespace kiln::onnx_frontend
