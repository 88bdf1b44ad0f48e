// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/testing/run_kernel.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/pipeline.h"
#include "compiler/loop/random_program.h"
#include "compiler/loop/round_trip.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr uint32_t kSeed = 7;
constexpr int kThreads = 4;
const loop::LoopPassRun kThorough = {.disabled = {}, .thorough = true, .after = nullptr};

loop::LoopProgram ProgramOf(const Scheduled& scheduled) {
  loop::LoopProgram program;
  program.constants = scheduled.constants;
  program.funcs.push_back(scheduled.func);
  return program;
}

// Returns the parameters' values after a run.
std::vector<Tensor> Run(const loop::LoopProgram& program, const std::string& name) {
  const std::vector<std::string> memory = loop::RunOnRandomInputs(program, name, kSeed);
  const loop::Func& func = *program.FindFunc(name);
  std::vector<Tensor> tensors;
  EXPECT_EQ(memory.size(), func.params.size()) << memory[0];
  for (size_t i = 0; i < memory.size() && memory.size() == func.params.size(); ++i) {
    tensors.emplace_back(TensorType{func.params[i]->shape, func.params[i]->dtype}, memory[i]);
  }
  return tensors;
}

void ExpectClose(const std::vector<Tensor>& expected, const std::vector<Tensor>& found,
                 double tolerance, const char* what) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    if (tolerance == 0 || !expected[k].type().dtype.is_float()) {
      EXPECT_TRUE(expected[k] == found[k]) << what << ", parameter " << k;
      continue;
    }
    for (int64_t i = 0; i < expected[k].type().num_elements(); ++i) {
      const double e = expected[k].AsDouble(i), f = found[k].AsDouble(i);
      ASSERT_LE(std::abs(e - f), tolerance * (1 + std::abs(e)))
          << what << ", parameter " << k << ", element " << i << ": " << f << ", wanted " << e;
    }
  }
}

std::vector<loop::Axis> AxesOf(const Shape& extents, absl::string_view prefix) {
  std::vector<loop::Axis> axes;
  for (int64_t extent : extents) {
    axes.push_back({loop::MakeVar(absl::StrCat(prefix, axes.size())), extent});
  }
  return axes;
}

std::vector<Expr> VarsOf(const std::vector<loop::Axis>& axes) {
  std::vector<Expr> vars;
  for (const loop::Axis& axis : axes) vars.push_back(axis.var);
  return vars;
}

double Neutral(loop::Combine combine) {
  switch (combine) {
    case loop::Combine::kMax:
    case loop::Combine::kMaxOfNumbers:
      return -100;
    case loop::Combine::kMin:
      return 100;
    case loop::Combine::kProd:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Target VectorTarget(int vector_bits, int cores) {
  Target target;
  target.vector_bits = vector_bits;
  target.vector_registers = vector_bits == 512 ? 32 : vector_bits == 0 ? 0 : 16;
  target.has_fma = vector_bits > 128;
  target.cores = cores;
  return target;
}

std::vector<Target> AllTargets() {
  return {VectorTarget(0), VectorTarget(128), VectorTarget(256), VectorTarget(512),
          VectorTarget(256, /*cores=*/8)};
}

Buffer Param(std::string name, DType dtype, Shape shape) {
  return loop::MakeBuffer(std::move(name), dtype, std::move(shape), loop::BufferScope::kParam);
}

Buffer Workspace(std::string name, DType dtype, Shape shape) {
  return loop::MakeBuffer(std::move(name), dtype, std::move(shape), loop::BufferScope::kWorkspace);
}

loop::Constant MakeConstant(std::string name, DType dtype, Shape shape) {
  const TensorType type{shape, dtype};
  std::string bytes;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double step = dtype.is_float() ? 0.5 : 1;
    bytes += Tensor::Scalar(dtype, 1 + step * static_cast<double>(i)).bytes();
  }
  return {loop::MakeBuffer(std::move(name), dtype, std::move(shape), loop::BufferScope::kConstant),
          Tensor(type, std::move(bytes))};
}

double SmallValue(int64_t i) { return static_cast<double>((i * 7 + 3) % 11) / 8 - 0.5; }

loop::Constant MakeSmallConstant(std::string name, Shape shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    values.push_back(static_cast<float>(SmallValue(i)));
  }
  Tensor tensor = Tensor::From<float>(shape, kF32, values);
  return {loop::MakeBuffer(std::move(name), kF32, std::move(shape), loop::BufferScope::kConstant),
          std::move(tensor)};
}

loop::Stage Pointwise(const Buffer& buffer,
                      const std::function<Expr(const std::vector<Expr>&)>& value) {
  const std::vector<loop::Axis> axes = AxesOf(buffer->shape, "i");
  const std::vector<Expr> vars = VarsOf(axes);
  return {.buffer = buffer,
          .axes = axes,
          .index = vars,
          .reduce = {},
          .combine = loop::Combine::kNone,
          .init = {},
          .value = value(vars)};
}

loop::Stage Reduce(
    const Buffer& buffer, const Shape& extents, loop::Combine combine,
    const std::function<Expr(const std::vector<Expr>&, const std::vector<Expr>&)>& term) {
  const std::vector<loop::Axis> axes = AxesOf(buffer->shape, "i");
  const std::vector<loop::Axis> reduce = AxesOf(extents, "r");
  return {.buffer = buffer,
          .axes = axes,
          .index = VarsOf(axes),
          .reduce = reduce,
          .combine = combine,
          .init = loop::Const(buffer->dtype, Neutral(combine)),
          .value = term(VarsOf(axes), VarsOf(reduce))};
}

Scheduled Schedule(const loop::Kernel& kernel, const Target& target, const ScheduleOptions& options,
                   const std::optional<TensorMemory>& memory) {
  ScheduleOptions thorough = options;
  thorough.passes.thorough = true;
  absl::StatusOr<Scheduled> scheduled = ScheduleKernel(kernel, target, thorough, memory);
  EXPECT_TRUE(scheduled.ok()) << scheduled.status();
  if (!scheduled.ok()) return {};
  EXPECT_EQ(loop::VerifyProgram(ProgramOf(*scheduled)), absl::OkStatus());
  return *std::move(scheduled);
}

std::string Text(const Scheduled& scheduled) { return loop::ToString(scheduled.func); }

std::vector<Tensor> ValuesOf(const Scheduled& scheduled) {
  return Run(ProgramOf(scheduled), scheduled.func.name);
}

std::vector<Tensor> ValuesOf(const loop::Kernel& kernel, const Target& target,
                             const ScheduleOptions& options) {
  return ValuesOf(Schedule(kernel, target, options));
}

void ExpectLikeNaive(const loop::Kernel& kernel, const Target& target, double tolerance,
                     const ScheduleOptions& options, const std::optional<TensorMemory>& memory) {
  const loop::LoopProgram naive = ProgramOf(Schedule(kernel, target, {.naive = true}));
  loop::LoopProgram program = ProgramOf(Schedule(kernel, target, options, memory));
  const std::vector<Tensor> scheduled = Run(program, kernel.name);
  ExpectClose(Run(naive, kernel.name), scheduled, tolerance, "as scheduled");
  EXPECT_EQ(loop::CheckRoundTrip(program), absl::OkStatus());
  const absl::Status passes = loop::RunLoopPasses(
      loop::LoopPhase::kCode, kThorough,
      {.vector_bits = loop::AllOf(target.vector_bits), .threads = kThreads}, program);
  ASSERT_EQ(passes, absl::OkStatus());
  EXPECT_EQ(loop::CheckRoundTrip(program), absl::OkStatus());
  // Vectors and tasks change no bits.
  ExpectClose(scheduled, Run(program, kernel.name), 0, "as vectors");
}

}  // namespace kiln::schedule
