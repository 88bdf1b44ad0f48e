// SPDX-License-Identifier: Apache-2.0
// For tests of schedules: handwritten kernels, and the comparison of every schedule with plain
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

// Returns a machine with vectors of `vector_bits` (0: none). It has fused multiply-add if there are
// more than 128 bits, like the x86-64 levels.
Target VectorTarget(int vector_bits, int cores = 1);
// Returns a machine of each width, and one with several cores.
std::vector<Target> AllTargets();

loop::Buffer Param(std::string name, DType dtype, Shape shape);
loop::Buffer Workspace(std::string name, DType dtype, Shape shape);
// Returns a constant with the elements 1, 2, 3, … or, for floats, 1, 1.5, 2, …
loop::Constant MakeConstant(std::string name, DType dtype, Shape shape);
// Returns values from -0.5 to 0.75, so that a sum of products is about as large as its terms.
double SmallValue(int64_t i);
loop::Constant MakeSmallConstant(std::string name, Shape shape);  // float32

// buffer[axes] = value(axes) over the buffer's shape.
loop::Stage Pointwise(const loop::Buffer& buffer,
                      const std::function<loop::Expr(const std::vector<loop::Expr>&)>& value);
// buffer[axes] = the combination of term(axes, reduce axes) over `extents`.
loop::Stage Reduce(const loop::Buffer& buffer, const Shape& extents, loop::Combine combine,
                   const std::function<loop::Expr(const std::vector<loop::Expr>&,
                                                  const std::vector<loop::Expr>&)>& term);

// Calls ScheduleKernel, which must succeed and return a program that the verifier accepts.
Scheduled Schedule(const loop::Kernel& kernel, const Target& target,
                   const ScheduleOptions& options = {},
                   const std::optional<TensorMemory>& memory = {});

std::string Text(const Scheduled& scheduled);

// Returns the values of all parameters after the scheduled loops have run on random inputs.
std::vector<Tensor> ValuesOf(const Scheduled& scheduled);
std::vector<Tensor> ValuesOf(const loop::Kernel& kernel, const Target& target,
                             const ScheduleOptions& options = {});

// Expects that the scheduled loops store the same as plain loops, and that vectors and tasks made
// of them do so, too. Values have the same bits or, for floats, are within `tolerance` (absolute
// and relative), because a sum may run in another order.
void ExpectLikeNaive(const loop::Kernel& kernel, const Target& target, double tolerance = 0,
                     const ScheduleOptions& options = {},
                     const std::optional<TensorMemory>& memory = {});

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TESTING_RUN_KERNEL_H_
