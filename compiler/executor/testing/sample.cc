// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/testing/sample.h"

namespace kiln {
namespace {

PlanBuffer Buffer(std::string name, TensorType type, PlanBufferKind kind, int first, int last,
                  int storage) {
  return {.name = std::move(name),
          .type = std::move(type),
          .kind = kind,
          .first_call = first,
          .last_call = last,
          .storage_id = storage};
}

loop::Buffer Param(std::string name, Shape shape) {
  return loop::MakeBuffer(std::move(name), kF32, std::move(shape), loop::BufferScope::kParam);
}

// The index of the first element.
std::vector<loop::Expr> ZeroIndex(const loop::Buffer& buffer) {
  return std::vector<loop::Expr>(buffer->shape.size(), loop::Expr(0));
}

}  // namespace

Plan SamplePlan() {
  Plan plan;
  plan.buffers = {
      Buffer("x", {{4}, kF32}, PlanBufferKind::kInput, 0, 0, 0),
      Buffer("0", {{2, 3}, DType::Int(8)}, PlanBufferKind::kInput, 0, 2, 1),
      Buffer("t", {{2, 2}, kF32}, PlanBufferKind::kIntermediate, 0, 3, 2),
      Buffer("scratch0", {{100}, DType::UInt(8)}, PlanBufferKind::kScratch, 0, 0, -1),
      Buffer("v", {{4}, kF32}, PlanBufferKind::kIntermediate, 1, 3, 2),
      Buffer("output0", {{4}, kF32}, PlanBufferKind::kOutput, 2, 4, 3),
      Buffer("output1", {{}, kF32}, PlanBufferKind::kOutput, 3, 4, 4),
  };
  plan.buffers[1].io_index = 1;
  plan.buffers[0].io_index = plan.buffers[5].io_index = 0;
  plan.buffers[6].io_index = 1;
  plan.buffers[2].pool = plan.buffers[3].pool = 0;
  plan.buffers[2].offset_bytes = 128;
  plan.buffers[4].alias_of = 2;
  plan.buffers[4].is_view = true;
  plan.calls = {
      {{.function = "tvmgen_mod_f",
        .inputs = {0},
        .outputs = {2},
        .op_names = "nn.conv2d nn.relu",
        .source = "conv1 relu1",
        .schedule = "contraction",
        .cost = loop::Cost{.operations = 1000, .accessed_bytes = 70}},
       {0, 2},
       3},
      {{.function = "", .inputs = {2}, .outputs = {4}, .op_names = "reshape"}, {2, 4}, -1},
      {{.function = "tvmgen_mod_g", .inputs = {4, 1}, .outputs = {5}}, {4, 1, 5}, -1},
      {{.function = "tvmgen_mod_g_1", .inputs = {4}, .outputs = {6}}, {4, 6}, -1},
  };
  plan.inputs = {0, 1};
  plan.outputs = {5, 6};
  plan.pools = {{.name = "workspace", .size_bytes = 192, .lower_bound_bytes = 192}};
  plan.lower_bound_bytes = 192;
  plan.strategy = "greedy by size";
  return plan;
}

loop::LoopProgram SampleProgram(loop::Convention convention) {
  loop::LoopProgram program;
  const auto add = [&](std::string name, std::vector<loop::Buffer> params, int num_inputs) {
    loop::Func func;
    func.name = std::move(name);
    func.convention = convention;
    func.params = std::move(params);
    func.num_inputs = num_inputs;
    func.exported = convention == loop::Convention::kPacked;
    program.funcs.push_back(std::move(func));
  };
  add("tvmgen_mod_f", {Param("a", {4}), Param("out", {2, 2})}, 1);
  program.funcs[0].workspace =
      loop::MakeBuffer("workspace", DType::UInt(8), {100}, loop::BufferScope::kParam);
  add("tvmgen_mod_g", {Param("a", {4}), Param("b", {2, 3}), Param("out", {4})}, 2);
  add("tvmgen_mod_g_1", {Param("a", {4}), Param("out", {})}, 1);
  const TensorType weights{{6}, kF32};
  program.constants.push_back({loop::MakeBuffer("tvmgen_mod_g_w_0", weights.dtype, weights.shape,
                                                loop::BufferScope::kConstant),
                               Tensor::Filled(weights, 1)});
  const TensorType bias{{2}, kF32};
  program.constants.push_back(
      {loop::MakeBuffer("tvmgen_mod_g_1_b_0", bias.dtype, bias.shape, loop::BufferScope::kConstant),
       Tensor::Filled(bias, 1)});
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const loop::Buffer& constant = program.constants[i].buffer;
    loop::Func& reader = program.funcs[i + 1];
    reader.body = loop::MakeStore(reader.params.back(), ZeroIndex(reader.params.back()),
                                  loop::MakeLoad(constant, ZeroIndex(constant)));
  }
  return program;
}

ModuleInfo SampleInfo() {
  return {.module_name = "mod",
          .executor = "aot",
          .runtime = "cpp",
          .interface_api = "packed",
          .calling_convention = "cpacked",
          .target = "x86-64",
          .main_function = "tvmgen_mod___tvm_main__"};
}

}  // namespace kiln
