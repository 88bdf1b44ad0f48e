// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmark/kernel_cases.h"

#include <cstdlib>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/backend.h"
#include "compiler/base/status.h"
#include "compiler/compile.h"
#include "compiler/executor/aot.h"
#include "compiler/loop/passes.h"
#include "compiler/ops/add_op.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::benchmark {
namespace {

const DType kF32 = DType::Float(32);

std::shared_ptr<char> Memory(int64_t bytes) {
  std::shared_ptr<char> memory(
      static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64))),
      std::free);
  float* values = reinterpret_cast<float*>(memory.get());
  for (int64_t i = 0; i < bytes / 4; ++i) values[i] = static_cast<float>(i % 17) / 16.0f - 0.5f;
  return memory;
}

Tensor Weights(Shape shape) {
  std::vector<float> values(static_cast<size_t>(NumElements(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) / 64.0f - 0.1f;
  return Tensor::From<float>(std::move(shape), kF32, values);
}

// `flops`: 0 where memory binds.
absl::StatusOr<Kernel> Build(std::string name, double flops, const Graph& model,
                             const ScheduleOptions& schedule = {}) {
  Kernel kernel{.name = std::move(name), .flops = flops};
  CompileOptions options;
  options.target = Target::Host();
  KILN_ASSIGN_OR_RETURN(
      const Graph graph,
      RunPasses(model, {.target = options.target, .evaluate = EvaluateAllConstants}, {}));
  KILN_ASSIGN_OR_RETURN(Lowered lowered, Lower(graph, options.target,
                                               {.module_name = "bench", .schedule = schedule}));
  std::vector<CallSpec> calls;
  for (const LoweredCall& c : lowered.calls) {
    calls.push_back(
        {c.function, c.inputs, c.outputs, c.workspace_bytes, c.in_place, c.op_names, c.source});
    absl::StrAppend(&kernel.schedule, kernel.schedule.empty() ? "" : "; ", c.schedule);
  }
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, calls));
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, "run"));
  lowered.program.funcs.push_back(std::move(main));
  const codegen::Jit::Symbols symbols = {
      {"TVMBackendParallelLaunch", reinterpret_cast<void*>(&TVMBackendParallelLaunch)}};
  KILN_ASSIGN_OR_RETURN(kernel.jit, codegen::Jit::Create(VectorProgram(lowered.program, options),
                                                         options.target, symbols));
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kNodeOutput) kernel.bytes += value.type->num_bytes();
  }
  for (ValueId id : graph.outputs) kernel.bytes += graph.type(id).num_bytes();
  const auto add = [&](int64_t bytes) {
    kernel.memory.push_back(Memory(bytes));
    kernel.args.push_back(kernel.memory.back().get());
  };
  for (ValueId id : graph.inputs) add(graph.type(id).num_bytes());
  for (ValueId id : graph.outputs) add(graph.type(id).num_bytes());
  if (plan.workspace_bytes() > 0) add(plan.workspace_bytes());
  return kernel;
}

absl::StatusOr<Kernel> Dense(int64_t m, int64_t n, int64_t k) {
  Graph g;
  const ValueId x = g.AddInput("x", {{m, k}, kF32});
  const ValueId w = g.AddConstant(Weights({n, k}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, AddOp(g, "nn.dense", {x, w}, {{"units", n}}));
  g.outputs = {y};
  return Build(absl::StrCat("dense ", m, "x", n, "x", k), 2.0 * static_cast<double>(m * n * k), g);
}

absl::StatusOr<Kernel> Convolution(int64_t extent, int64_t in, int64_t out, int64_t kernel,
                                   bool winograd = false) {
  Graph g;
  const ValueId x = g.AddInput("x", {{1, extent, extent, in}, kF32});
  const ValueId w = g.AddConstant(Weights({out, in, kernel, kernel}));
  const int64_t padding = kernel / 2;
  KILN_ASSIGN_OR_RETURN(ValueId y, AddOp(g, "nn.conv2d", {x, w},
                                         {{"padding", AttrValue::Ints({padding, padding})},
                                          {"data_layout", "NHWC"}}));
  KILN_ASSIGN_OR_RETURN(y, AddOp(g, "nn.relu", {y}));
  g.outputs = {y};
  return Build(absl::StrCat(winograd ? "winograd " : "conv2d ", kernel, "x", kernel, " ", in, "->",
                            out, " ", extent, "x", extent),
               2.0 * static_cast<double>(extent * extent * in * out * kernel * kernel), g,
               {.winograd = winograd});
}

absl::StatusOr<Kernel> Depthwise(int64_t extent, int64_t channels, int64_t stride) {
  Graph g;
  const ValueId x = g.AddInput("x", {{1, extent, extent, channels}, kF32});
  const ValueId w = g.AddConstant(Weights({channels, 1, 3, 3}));
  KILN_ASSIGN_OR_RETURN(ValueId y, AddOp(g, "nn.conv2d", {x, w},
                                         {{"padding", AttrValue::Ints({1, 1})},
                                          {"strides", AttrValue::Ints({stride, stride})},
                                          {"groups", channels},
                                          {"data_layout", "NHWC"}}));
  KILN_ASSIGN_OR_RETURN(y, AddOp(g, "nn.relu", {y}));
  g.outputs = {y};
  return Build(absl::StrCat("depthwise 3x3/", stride, " ", extent, "x", extent, "x", channels), 0,
               g);
}

absl::StatusOr<Kernel> MaxPool(int64_t extent, int64_t channels) {
  Graph g;
  const ValueId x = g.AddInput("x", {{1, extent, extent, channels}, kF32});
  KILN_ASSIGN_OR_RETURN(const ValueId y, AddOp(g, "nn.max_pool2d", {x},
                                               {{"pool_size", AttrValue::Ints({3, 3})},
                                                {"strides", AttrValue::Ints({2, 2})},
                                                {"padding", AttrValue::Ints({1, 1})},
                                                {"layout", "NHWC"}}));
  g.outputs = {y};
  return Build(absl::StrCat("max_pool 3x3/2 ", extent, "x", extent, "x", channels), 0, g);
}

absl::StatusOr<Kernel> AddRelu(int64_t elements) {
  Graph g;
  const ValueId x = g.AddInput("x", {{elements}, kF32}), y = g.AddInput("y", {{elements}, kF32});
  KILN_ASSIGN_OR_RETURN(ValueId z, AddOp(g, "add", {x, y}));
  KILN_ASSIGN_OR_RETURN(z, AddOp(g, "nn.relu", {z}));
  g.outputs = {z};
  return Build(absl::StrCat("add, relu ", elements), 0, g);
}

absl::StatusOr<Kernel> Softmax(int64_t rows, int64_t columns) {
  Graph g;
  const ValueId x = g.AddInput("x", {{rows, columns}, kF32});
  KILN_ASSIGN_OR_RETURN(const ValueId y, AddOp(g, "nn.softmax", {x}, {{"axis", 1}}));
  g.outputs = {y};
  return Build(absl::StrCat("softmax ", rows, "x", columns), 0, g);
}

// One row by a matrix: every weight is read once.
absl::StatusOr<Kernel> MatrixVector(int64_t n, int64_t k) {
  KILN_ASSIGN_OR_RETURN(Kernel kernel, Dense(1, n, k));
  kernel.flops = 0;
  return kernel;
}

}  // namespace

absl::StatusOr<std::vector<Kernel>> KernelCases() {
  std::vector<Kernel> kernels;
  absl::Status status;
  const auto add = [&](absl::StatusOr<Kernel> kernel) {
    status.Update(kernel.status());
    if (kernel.ok()) kernels.push_back(*std::move(kernel));
  };
  add(Dense(512, 512, 512));
  for (const auto& [extent, channels] : {std::pair(56, 64), {28, 128}, {14, 256}, {7, 512}}) {
    add(Convolution(extent, channels, channels, 3));
    add(Convolution(extent, channels, channels, 3, /*winograd=*/true));
  }
  add(Convolution(56, 64, 256, 1));
  add(Convolution(56, 256, 64, 1));
  add(Convolution(28, 256, 256, 1));
  add(Convolution(14, 1024, 256, 1));
  add(Convolution(14, 256, 1024, 1));
  add(Convolution(7, 2048, 512, 1));
  add(Depthwise(112, 32, 1));
  add(Depthwise(112, 64, 2));
  add(Depthwise(14, 512, 1));
  add(MaxPool(112, 64));
  add(AddRelu(1 << 20));
  add(AddRelu(1 << 24));
  add(Softmax(2048, 1024));
  add(MatrixVector(4096, 4096));
  KILN_RETURN_IF_ERROR(status);
  return kernels;
}

}  // namespace kiln::benchmark
