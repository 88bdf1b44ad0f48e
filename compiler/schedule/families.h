// SPDX-License-Identifier: Apache-2.0
// The schedule families, and the steps that they share. Each takes stages and gives loops;
// schedule.cc chooses among them.
#ifndef KILN_COMPILER_SCHEDULE_FAMILIES_H_
#define KILN_COMPILER_SCHEDULE_FAMILIES_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/loop/stage.h"
#include "compiler/schedule/code_shape.h"
#include "compiler/schedule/nest.h"
#include "compiler/schedule/tensor_memory.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

// What a family works on and adds to: constants that it re-packs, workspace buffers that it needs.
struct Context {
  const Target& target;
  std::vector<loop::Constant> constants;
  std::vector<Buffer> workspace;
  std::string description;
  CodeShape code = {};
  std::optional<TensorMemory> memory = {};  // as for ScheduleKernel
  bool bfloat16_products = false;           // as in ScheduleOptions
  // Whether sums of products of float32 may be made of products of three parts of each factor: where code
  // need not be small, and no C compiler splits them.
  bool float_parts = false;

  int Lanes(DType dtype) const { return target.Lanes(dtype); }
};

// The constant behind a buffer; null if it is none.
const loop::Constant* FindConstant(const Context& context, const Buffer& buffer);

// Whether the buffer is an output of the kernel.
bool IsOutput(const loop::Kernel& kernel, const Buffer& buffer);
// Whether the buffer is no output, and no stage but stages[which] reads it.
bool IsReadByAlone(const loop::Kernel& kernel, size_t which, const Buffer& buffer);

// Replaces the loads of stages that are cheaper to compute where they are read than to store, and
// drops these stages; drops copies of whole buffers to outputs, too.
void InlineStages(loop::Kernel& kernel, const Target& target);

// A plain serial nest for every stage.
Stmt NaiveSchedule(const loop::Kernel& kernel, Context& context);

// One stage without reduction, as a nest of its own.
Stmt PointwiseNest(const Stage& stage, Context& context);

// One stage that puts places in order, row by row: by selection where few ranks are wanted.
Stmt RankNest(const Stage& stage, Context& context);

// The same as PointwiseNest for a merged stage whose data lie along another axis than the innermost one:
// tiles that are transposed in registers; nothing if there are none.
std::optional<Stmt> TransposedNest(const Stage& stage, bool threads, Context& context);

// The same stage as a sum of dot products, whose groups are taps of a window along its first axis:
// if it sums products of 8-bit or 16-bit integers and constants (a depthwise convolution), and the
// target has an instruction for that; otherwise nothing. Its value is a loop::Dot that adds to 0.
std::optional<Stage> GroupTaps(const Stage& stage, Context& context);

// All stages of a kernel in which something is reduced, in one nest over the axes that they share.
Stmt ReductionNest(const loop::Kernel& kernel, Context& context);
// A stage inside of loops that several share: no threads.
Stmt InnerStage(const Stage& stage, Context& context);
// The same where windows are taken one axis at a time, if one of the stages gains by that.
std::optional<Stmt> WindowsByAxis(const loop::Kernel& kernel, Context& context);
// One stage with a reduction, as a nest of its own.
Stmt ReductionStage(const Stage& stage, Context& context);
// A stage of `kernel` as a nest of its own, its buffer in the workspace if it is no output.
Stmt StageNest(const loop::Kernel& kernel, const Stage& stage, Context& context);

// A sum of products: out[batch, m, n] = sum over k of x[batch, m, k] * y[batch, n, k].
struct Contraction {
  Expr x = {}, y = {};            // the factors; each a load, or a cast of one
  std::vector<Axis> batch = {};   // in both factors, or in y only and not contiguous in the output
  std::vector<Axis> rows = {};    // in x only: M
  Axis column = {};               // in y only, and contiguous in the output: N
  std::vector<Axis> reduce = {};  // K
};
// The extent of the row axis `from_last` places from the innermost one; 1 if there is none.
int64_t RowExtent(const Contraction& contraction, size_t from_last);
// Bytes of the column factor, for one place of the batch.
int64_t ColumnBytes(const Contraction& contraction);
// The load under a factor's casts; null if there is none.
const loop::Load* FactorLoad(Expr factor);
// The factor with `load` in the place of its own.
Expr WithLoad(const Expr& factor, const Expr& load);
// A factor's flat index, linear in `axes`; nothing if it is not.
std::optional<loop::LinearForm> FactorForm(const Expr& factor, const std::vector<Axis>& axes);
// Reads a contraction off a stage whose values end up at `store` (index in elements of the output
// buffer, in the stage's axes); nothing if the stage is none or is better served by the reduction
// family.
std::optional<Contraction> AsContraction(const Stage& stage, const Expr& store,
                                         const Target& target);
// The same where the stage itself stores its values.
std::optional<Contraction> AsContraction(const Stage& stage, const Target& target);

// Where stages[which] is a product of floats, and stages before it pad data of a few planes that
// would be interleaved by that: they keep the order of the data.
void StorePlanes(loop::Kernel& kernel, size_t which, const Target& target);

// The kernel's stages, of which stages[which] is a contraction; stages behind it that are pointwise
// become its epilogue. The choice is a direct one that CheckChoice accepts.
Stmt ContractionNest(const loop::Kernel& kernel, size_t which, const ContractionChoice& choice,
                     Context& context);

// The same for one that Winograd's filtering computes.
struct WinogradProblem;
Stmt WinogradNest(const loop::Kernel& kernel, size_t which, const WinogradProblem& problem,
                  const ContractionChoice& choice, Context& context);

// Whether the kernel has several products and reductions between them that share rows.
bool HasSharedRows(const loop::Kernel& kernel, const Target& target);
// All stages of such a kernel, for a block of rows after the other.
Stmt SharedRowsNest(const loop::Kernel& kernel, Context& context);

// One axis of a packed copy: how many elements, and how far apart they are in the original.
struct PackedAxis {
  int64_t extent;
  int64_t stride;
};
// A copy of the constant behind `buffer` from element `base` on, walked by `axes` from the
// outermost to the innermost. With `columns` >= 0 the axis `block` counts blocks of as many columns
// as the innermost axis has, of which only `columns` exist in all; the others are 0.
Buffer PackConstant(const Buffer& buffer, int64_t base, const std::vector<PackedAxis>& axes,
                    Context& context, size_t block = 0, int64_t columns = -1);

// Gives every constant that `stage` reads with a stride along `inner` a layout in which `inner` is
// contiguous, where that does not make it larger.
Stage RelayoutConstants(const Stage& stage, const std::vector<Axis>& order, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_FAMILIES_H_
