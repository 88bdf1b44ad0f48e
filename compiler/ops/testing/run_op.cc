// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/testing/run_op.h"

#include <cmath>
#include <random>

#include "compiler/base/status.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/loop.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

using loop::Buffer;
using loop::Stmt;

Stmt Nest(const std::vector<loop::Axis>& axes, Stmt body) {
  for (size_t k = axes.size(); k-- > 0;) {
    body = loop::MakeFor(axes[k].var, 0, axes[k].extent, loop::ForKind::kSerial, body);
  }
  return body;
}

Stmt StageLoops(const loop::Stage& stage) {
  if (stage.rank_axis.has_value()) return loop::PlainRankLoops(stage);
  if (stage.combine == loop::Combine::kNone) {
    return Nest(stage.axes, loop::StoreOf(stage));
  }
  const loop::Expr sum =
      loop::CombineExprs(stage.combine, loop::MakeLoad(stage.buffer, stage.index), stage.value);
  return Nest(
      stage.axes,
      loop::MakeBlock({loop::MakeStore(stage.buffer, stage.index, stage.init),
                       Nest(stage.reduce, loop::MakeStore(stage.buffer, stage.index, sum))}));
}

std::vector<Buffer> ParamBuffers(const std::string& prefix, const std::vector<TensorType>& types) {
  std::vector<Buffer> buffers;
  for (const TensorType& type : types) {
    buffers.push_back(loop::MakeBuffer(absl::StrCat(prefix, buffers.size()), type.dtype, type.shape,
                                       loop::BufferScope::kParam));
  }
  return buffers;
}

std::vector<TensorType> Types(const std::vector<Tensor>& tensors) {
  std::vector<TensorType> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.type());
  return types;
}

// Pointers to all inputs; that of `unknown` is null.
std::vector<const Tensor*> Known(const std::vector<Tensor>& inputs, size_t unknown) {
  std::vector<const Tensor*> constants;
  for (size_t k = 0; k < inputs.size(); ++k) {
    constants.push_back(k == unknown ? nullptr : &inputs[k]);
  }
  return constants;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunLowered(const OpDef& op, const Attrs& normalized,
                                               const std::vector<Tensor>& inputs,
                                               const std::vector<TensorType>& output_types,
                                               int64_t max_steps, size_t unknown) {
  const std::vector<Buffer> input_buffers = ParamBuffers("in", Types(inputs)),
                            output_buffers = ParamBuffers("out", output_types);
  StageBuilder builder("op", normalized, input_buffers, output_buffers, Known(inputs, unknown));
  KILN_RETURN_IF_ERROR(op.lower(builder));
  StageBuilder::Result lowered = std::move(builder).Finish();
  std::vector<loop::Stage>& stages = lowered.stages;

  for (const loop::Stage& stage : stages) {
    double steps = 1;
    for (const loop::Axis& axis : stage.axes) steps *= static_cast<double>(axis.extent);
    for (const loop::Axis& axis : stage.reduce) steps *= static_cast<double>(axis.extent);
    if (steps > static_cast<double>(max_steps))
      return absl::ResourceExhaustedError(stage.buffer->name);
  }

  // Every buffer that a stage defines is a parameter.
  loop::Func func;
  func.name = "op";
  func.params = input_buffers;
  func.num_inputs = static_cast<int>(inputs.size());
  std::vector<Stmt> stmts;
  for (const loop::Stage& stage : stages) {
    if (!stage.update) func.params.push_back(stage.buffer);
    stmts.push_back(StageLoops(stage));
  }
  func.body = loop::MakeBlock(std::move(stmts));

  std::vector<std::string> memory;
  for (const Tensor& input : inputs) memory.push_back(input.bytes());
  std::erase_if(stages, [](const loop::Stage& stage) { return stage.update; });
  for (const loop::Stage& stage : stages) {
    memory.emplace_back(static_cast<size_t>(stage.buffer->num_bytes()), '\xaa');
  }
  std::vector<void*> args;
  for (std::string& bytes : memory) args.push_back(bytes.data());
  loop::LoopProgram program;
  program.funcs.push_back(std::move(func));
  program.constants = std::move(lowered.constants);
  KILN_RETURN_IF_ERROR(loop::Interpreter(program).Run("op", args));

  std::vector<Tensor> outputs(output_types.size());
  for (size_t s = 0; s < stages.size(); ++s) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (stages[s].buffer == output_buffers[k])
        outputs[k] = Tensor(output_types[k], memory[inputs.size() + s]);
    }
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunOp(const OpDef& op, Attrs attrs,
                                          const std::vector<Tensor>& inputs, size_t unknown) {
  KILN_ASSIGN_OR_RETURN(const Attrs normalized, NormalizeAttrs(op, std::move(attrs)));
  const std::vector<TensorType> types = Types(inputs);
  const InferContext context{normalized, types, Known(inputs, unknown)};
  KILN_ASSIGN_OR_RETURN(const std::vector<TensorType> output_types, op.infer(context));
  return RunLowered(op, normalized, inputs, output_types, INT64_MAX, unknown);
}

Tensor RandomTensor(const TensorType& type, uint64_t seed, double min, double max) {
  std::mt19937_64 random(seed);
  std::vector<double> elements;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double value = min + (max - min) * unit;
    const double element = type.dtype.is_bool()    ? static_cast<double>(unit < 0.5)
                           : type.dtype.is_float() ? value
                                                   : std::round(value * 4);
    elements.push_back(element);
  }
  return Values(type, elements);
}

std::vector<Tensor> ExampleInputs(const OpExample& example) {
  std::vector<Tensor> inputs;
  for (size_t k = 0; k < example.inputs.size(); ++k) {
    const bool given =
        k < example.values.size() && example.values[k].type() == example.inputs[k] &&
        static_cast<int64_t>(example.values[k].bytes().size()) == example.inputs[k].num_bytes();
    inputs.push_back(
        given ? example.values[k]
              : RandomTensor(example.inputs[k], k + 1, example.input_min, example.input_max));
  }
  return inputs;
}

}  // namespace kiln
