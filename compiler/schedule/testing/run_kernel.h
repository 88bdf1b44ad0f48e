// SPDX-License-Identifier: Apache-2.0
// For tests of schedules: kernels made by hand, and the comparison of every schedule with plain
// loops.
#ifndef KILN_COMPILER_SCHEDULE_TESTING_RUN_KERNEL_H_
#define KILN_COMPILER_SCHEDULE_TESTING_RUN_KERNEL_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace kiln::schedule {

using loop::Buffer;
using loop::Combine;
using loop::Expr;
using loop::Kernel;
using loop::MakeLoad;
using Index = std::vector<Expr>;

inline constexpr DType kF32 = DType::Float(32);

// A machine with vectors of `vector_bits` (0: none), with fused multiply-add if that is more than
// 128, as the x86-64 levels are.
Target VectorTarget(int vector_bits, int cores = 1);
// One of each width.
std::vector<Target> AllTargets();

loop::Buffer Param(std::string name, DType dtype, Shape shape);
loop::Buffer Workspace(std::string name, DType dtype, Shape shape);
// 1, 2, 3, … by element, in steps of 0.5 if floats.
loop::Constant MakeConstant(std::string name, DType dtype, Shape shape);
// -0.5 … 0.75, so that a sum of products is of the size of its terms.
double SmallValue(int64_t i);
loop::Constant MakeSmallConstant(std::string name, Shape shape);  // float32

// buffer[axes] = value(axes) over the buffer's shape.
loop::Stage Pointwise(const loop::Buffer& buffer,
                      const std::function<loop::Expr(const std::vector<loop::Expr>&)>& value);
// buffer[axes] = the combination of term(axes, reduce axes) over `extents`.
loop::Stage Reduce(const loop::Buffer& buffer, const Shape& extents, loop::Combine combine,
                   const std::function<loop::Expr(const std::vector<loop::Expr>&,
                                                  const std::vector<loop::Expr>&)>& term);

// ScheduleKernel, which must succeed and give a program that the verifier accepts.
Scheduled Schedule(const loop::Kernel& kernel, const Target& target,
                   const ScheduleOptions& options = {},
                   const std::optional<TensorMemory>& memory = {});

std::string Text(const Scheduled& scheduled);

// The values of all parameters after a run of the loops as they are scheduled, on random inputs.
std::vector<Tensor> ValuesOf(const loop::Kernel& kernel, const Target& target,
                             const ScheduleOptions& options = {});

// Whether the loops as they are scheduled, and made into vectors and tasks, store what plain loops
// store: the same bits, or floats within `tolerance` (absolute and relative) where a sum may run in
// another order.
void ExpectLikeNaive(const loop::Kernel& kernel, const Target& target, double tolerance = 0,
                     const ScheduleOptions& options = {},
                     const std::optional<TensorMemory>& memory = {});

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TESTING_RUN_KERNEL_H_
