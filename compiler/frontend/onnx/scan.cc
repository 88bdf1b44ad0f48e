// SPDX-License-Identifier: Apache-2.0
// Scan, unrolled over its sequences. From opset 9 on, every input may be scanned along its own
// axis. In opset 8, the first dimension is a batch, and the scan is along axis 1.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/pieces.h"

namespace kiln::onnx_frontend {
namespace {

// The structure of a Scan node.
struct ScanForm {
  const onnx::GraphProto* body;
  size_t states, inputs, outputs;
  std::vector<int64_t> input_axes, input_directions;    // per input
  std::vector<int64_t> output_axes, output_directions;  // per output
};

absl::StatusOr<std::vector<int64_t>> PerTensor(const Converter& c, absl::string_view name,
                                               size_t count) {
  std::vector<int64_t> values = c.Ints(name, std::vector<int64_t>(count, 0));
  if (values.size() == count) return values;
  return Wrong(name, absl::StrCat(values.size(), " values"), absl::StrCat(count));
}

// `first_input` is the index of the first state among the node's inputs.
absl::StatusOr<ScanForm> FormOf(const Converter& c, int first_input) {
  const int count = c.num_inputs() - first_input;
  const int64_t inputs = c.Int("num_scan_inputs", 0);
  if (inputs < 1 || inputs > count) {
    return Wrong("num_scan_inputs", absl::StrCat(inputs), absl::StrCat("1 to ", count));
  }
  const int64_t states = count - inputs;
  KILN_ASSIGN_OR_RETURN(const onnx::GraphProto* body, c.Body("body", count, -1));
  const int64_t wanted = std::max<int64_t>(states, c.node().output_size());
  if (body->output_size() < wanted) {
    return Wrong("body", absl::StrCat(body->output_size(), " outputs"),
                 absl::StrCat(wanted, " or more, of which the first ", states, " are states"));
  }
  ScanForm form;
  form.body = body;
  form.states = static_cast<size_t>(states);
  form.inputs = static_cast<size_t>(inputs);
  form.outputs = static_cast<size_t>(body->output_size() - states);
  if (c.opset() < 9) {
    KILN_ASSIGN_OR_RETURN(form.input_directions, PerTensor(c, "directions", form.inputs));
    form.input_axes.assign(form.inputs, 0);
    form.output_axes.assign(form.outputs, 0);
    form.output_directions.assign(form.outputs, 0);
    return form;
  }
  KILN_ASSIGN_OR_RETURN(form.input_axes, PerTensor(c, "scan_input_axes", form.inputs));
  KILN_ASSIGN_OR_RETURN(form.input_directions, PerTensor(c, "scan_input_directions", form.inputs));
  KILN_ASSIGN_OR_RETURN(form.output_axes, PerTensor(c, "scan_output_axes", form.outputs));
  KILN_ASSIGN_OR_RETURN(form.output_directions,
                        PerTensor(c, "scan_output_directions", form.outputs));
  return form;
}

// Returns the extent of the inputs along their axes, and makes the axes non-negative.
absl::StatusOr<int64_t> StepsOf(Converter& c, const std::vector<ValueId>& inputs,
                                std::vector<int64_t>& axes) {
  int64_t steps = -1;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Shape shape = c.type(inputs[k]).shape;
    KILN_ASSIGN_OR_RETURN(axes[k], NormalAxis(axes[k], static_cast<int>(shape.size())));
    const int64_t extent = shape[static_cast<size_t>(axes[k])];
    if (steps >= 0 && extent != steps) {
      return Wrong("lengths of the sequences", absl::StrCat(steps, " and ", extent), "one length");
    }
    steps = extent;
  }
  return steps;
}

absl::Status CheckSteps(int64_t steps) {
  if (steps <= kMaxUnrolledSteps) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a scan is written out when the model is compiled: found ", steps,
                   " steps, wanted at most ", kMaxUnrolledSteps));
}

// Runs the body `count` times. Sets `state` to the last state, and appends the results of each step
// to those of each output. Returns false if a result is unknown.
absl::StatusOr<bool> RunSteps(Converter& c, const ScanForm& form, int64_t count,
                              const std::vector<ValueId>& inputs, std::vector<Item>& state,
                              std::vector<std::vector<ValueId>>& results) {
  for (int64_t t = 0; t < count; ++t) {
    std::vector<Item> arguments = state;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int64_t extent = c.type(inputs[k]).shape[static_cast<size_t>(form.input_axes[k])];
      const int64_t at = form.input_directions[k] != 0 ? extent - 1 - t : t;
      KILN_ASSIGN_OR_RETURN(arguments.emplace_back(),
                            PieceAt(c, inputs[k], form.input_axes[k], at));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Item> outputs, c.ImportBody(*form.body, arguments));
    for (const Item& item : outputs) {
      if (item.is_unknown()) return false;
      if (!item.is_tensor()) return Wrong("an output of the body", item.name(), "a tensor");
    }
    state.assign(outputs.begin(), outputs.begin() + static_cast<ptrdiff_t>(form.states));
    for (size_t k = 0; k < form.outputs; ++k) {
      results[k].push_back(outputs[form.states + k].tensor);
    }
  }
  return true;
}

absl::Status ScanOfOpset9(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ScanForm form, FormOf(c, 0));
  std::vector<Item> state;
  std::vector<ValueId> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    if (static_cast<size_t>(i) < form.states) {
      state.push_back(input);
    } else {
      inputs.push_back(input);
    }
  }
  KILN_ASSIGN_OR_RETURN(const int64_t steps, StepsOf(c, inputs, form.input_axes));
  KILN_RETURN_IF_ERROR(CheckSteps(steps));
  std::vector<std::vector<ValueId>> results(form.outputs);
  KILN_ASSIGN_OR_RETURN(const bool known, RunSteps(c, form, steps, inputs, state, results));
  if (!known) {
    c.SetOutputsUnknown();
    return absl::OkStatus();
  }
  for (size_t i = 0; i < form.states; ++i) c.SetOutput(static_cast<int>(i), state[i]);
  for (size_t k = 0; k < form.outputs; ++k) {
    if (form.output_directions[k] != 0) std::reverse(results[k].begin(), results[k].end());
    const int output = static_cast<int>(form.states + k);
    KILN_ASSIGN_OR_RETURN(
        const ValueId y, ScanOutput(c, results[k], form.output_axes[k], form.body->output(output)));
    c.SetOutput(output, y);
  }
  return absl::OkStatus();
}

// Scans every sequence of the batch separately. Zeros follow the end of a sequence that is shorter
// than the longest.
absl::Status ScanOfOpset8(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ScanForm form, FormOf(c, 1));
  std::vector<ValueId> inputs;
  int64_t batch = -1;
  for (int i = 1; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(i));
    const TensorType type = c.type(input);
    const int rank = static_cast<size_t>(i) <= form.states ? 1 : 2;
    if (type.rank() < rank || (batch >= 0 && type.shape[0] != batch)) {
      return Wrong(absl::StrCat("input ", i), type.ToString(), "a batch of states or sequences");
    }
    batch = type.shape[0];
    inputs.push_back(input);
  }
  std::vector<ValueId> sequences(inputs.begin() + static_cast<ptrdiff_t>(form.states),
                                 inputs.end());
  std::vector<int64_t> axes(form.inputs, 1);
  KILN_ASSIGN_OR_RETURN(const int64_t steps, StepsOf(c, sequences, axes));
  if (steps < 1 || batch < 1) return Wrong("the sequences", "none", "one step or more");
  KILN_RETURN_IF_ERROR(CheckSteps(steps));
  KILN_RETURN_IF_ERROR(CheckSteps(steps * batch));
  std::vector<int64_t> lengths(static_cast<size_t>(batch), steps);
  if (c.HasInput(0)) {
    KILN_ASSIGN_OR_RETURN(const Tensor given, c.ConstantInput(0, "sequence_lens"));
    lengths = given.ToInts();
    const bool fit = std::all_of(lengths.begin(), lengths.end(),
                                 [&](int64_t n) { return n >= 1 && n <= steps; });
    if (static_cast<int64_t>(lengths.size()) != batch || !fit) {
      return Wrong("sequence_lens", AttrValue::Ints(lengths).ToString(),
                   absl::StrCat(batch, " lengths of 1 to ", steps));
    }
  }
  std::vector<std::vector<ValueId>> outputs(form.states + form.outputs);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Item> state;
    std::vector<ValueId> pieces;
    const int64_t length = lengths[static_cast<size_t>(b)];
    for (size_t i = 0; i < inputs.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(ValueId piece, PieceAt(c, inputs[i], 0, b));
      if (i < form.states) {
        state.push_back(piece);
        continue;
      }
      KILN_ASSIGN_OR_RETURN(piece, Piece(c, piece, 0, 0, length));
      pieces.push_back(piece);
    }
    std::vector<std::vector<ValueId>> results(form.outputs);
    KILN_ASSIGN_OR_RETURN(const bool known, RunSteps(c, form, length, pieces, state, results));
    if (!known) {
      c.SetOutputsUnknown();
      return absl::OkStatus();
    }
    for (size_t i = 0; i < form.states; ++i) outputs[i].push_back(state[i].tensor);
    for (size_t k = 0; k < form.outputs; ++k) {
      const ValueId zero = c.Constant(Tensor::Filled(c.type(results[k].front()), 0));
      results[k].resize(static_cast<size_t>(steps), zero);
      KILN_ASSIGN_OR_RETURN(outputs[form.states + k].emplace_back(), Stacked(c, results[k], 0));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId y, Stacked(c, outputs[i], 0));
    c.SetOutput(static_cast<int>(i), y);
  }
  return absl::OkStatus();
}

constexpr OnnxOperator kScanRows[] = {{"If", If}, {"Loop", Loop}, {"Scan", Scan}};

}  // namespace

absl::Status Scan(Converter& c) { return c.opset() < 9 ? ScanOfOpset8(c) : ScanOfOpset9(c); }

absl::Span<const OnnxOperator> ControlFlowOperators() { return kScanRows; }

}  // namespace kiln::onnx_frontend
