// SPDX-License-Identifier: Apache-2.0
// The schedule families, and the steps that they share. Each family turns stages into loops;
// schedule.cc chooses the family.
#ifndef KILN_COMPILER_SCHEDULE_FAMILIES_H_
#define KILN_COMPILER_SCHEDULE_FAMILIES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop/stage.h"
#include "compiler/schedule/code_shape.h"
#include "compiler/schedule/nest.h"
#include "compiler/schedule/tensor_memory.h"
#include "compiler/schedule/tuning.h"
#include "compiler/target/target.h"

namespace kiln::schedule {

// Inputs of a family, and its additions: repacked constants and workspace buffers.
struct Context {
  const Target& target;
  std::vector<loop::Constant> constants;
  std::vector<Buffer> workspace;
  std::string description;
  CodeShape code = {};
  std::optional<TensorMemory> memory = {};  // as in ScheduleKernel
  bool bfloat16_products = false;           // as in ScheduleOptions
  // True if products of float32 may be computed from three bfloat16 parts of each factor. False if
  // code has to be small, or for generated C, whose compilers do not vectorize the splitting.
  bool float_parts = false;
  // The plan of each contraction, and the order of each other sum, as lines of text.
  std::vector<std::string> plans = {};

  // Adds a line to `plans` unless it is the last one.
  void Note(std::string line) {
    if (plans.empty() || plans.back() != line) plans.push_back(std::move(line));
  }
  int Lanes(DType dtype) const { return target.Lanes(dtype); }
};

// Returns the constant of a buffer, or null if the buffer is not a constant.
const loop::Constant* FindConstant(const Context& context, const Buffer& buffer);

// True if the buffer is an output of the kernel.
bool IsOutput(const loop::Kernel& kernel, const Buffer& buffer);
// True if the buffer is not an output, and no stage other than stages[which] reads it.
bool IsReadByAlone(const loop::Kernel& kernel, size_t which, const Buffer& buffer);

// Inlines stages that are cheaper to compute at each read than to store, and removes them. Also
// removes copies of whole buffers to outputs.
void InlineStages(loop::Kernel& kernel, const Target& target);

// Returns a plain serial loop nest for each stage.
Stmt NaiveSchedule(const loop::Kernel& kernel, Context& context);

// Returns a loop nest for one stage without reduction.
Stmt PointwiseNest(const Stage& stage, Context& context);

// Returns a loop nest for one stage that sorts places, row by row. If few ranks are wanted, these
// are selected first.
Stmt RankNest(const Stage& stage, Context& context);

// The same as PointwiseNest for a merged stage whose data are contiguous along another axis than
// the innermost one. Tiles are transposed in registers. Returns nothing if the stage has no such
// data or no suitable tile.
std::optional<Stmt> TransposedNest(const Stage& stage, bool threads, Context& context);

// Returns the stage as a sum of dot products whose groups are taps along the first axis of a
// window. The stage must be a depthwise convolution: a sum of products of 8-bit or 16-bit integers
// and constants. Returns nothing for other stages, or if the target has no suitable instruction.
// The value of the result is a loop::Dot that adds to 0.
std::optional<Stage> GroupTaps(const Stage& stage, Context& context);

// Returns the loops of a kernel that contains a reduction. Stages share one nest over their common
// axes if possible.
Stmt ReductionNest(const loop::Kernel& kernel, Context& context);
// Returns the loops of a stage inside of loops that several stages share. Uses no threads.
Stmt InnerStage(const Stage& stage, Context& context);
// The same as ReductionNest, but windows are reduced one axis at a time. Returns nothing if no
// stage gains by that.
std::optional<Stmt> WindowsByAxis(const loop::Kernel& kernel, Context& context);
// Returns a loop nest for one stage with a reduction.
Stmt ReductionStage(const Stage& stage, Context& context);
// Returns a loop nest for one stage of `kernel`. Its buffer is in the workspace unless it is an
// output.
Stmt StageNest(const loop::Kernel& kernel, const Stage& stage, Context& context);

// A sum of products: out[batch, m, n] = sum over k of x[batch, m, k] * y[batch, n, k].
struct Contraction {
  Expr x = {}, y = {};            // the factors; each a load, or a cast of one
  std::vector<Axis> batch = {};   // in both factors, or in y only and not contiguous in the output
  std::vector<Axis> rows = {};    // in x only: M
  Axis column = {};               // in y only, and contiguous in the output: N
  std::vector<Axis> reduce = {};  // K
};
// Returns the extent of the row axis `from_last` places before the innermost one; 1 if there is
// none.
int64_t RowExtent(const Contraction& contraction, size_t from_last);
// Returns the bytes of the column factor for one element of the batch.
int64_t ColumnBytes(const Contraction& contraction);
// Returns the axes of the column factor: batch, reduction and column.
std::vector<Axis> ColumnAxes(const Contraction& contraction);
// Returns the load under a factor's casts; null if there is none.
const loop::Load* FactorLoad(Expr factor);
// Returns the factor with its load replaced by `load`.
Expr WithLoad(const Expr& factor, const Expr& load);
// Returns a factor's flat index as a linear form in `axes`; nothing if it is not linear.
std::optional<loop::LinearForm> FactorForm(const Expr& factor, const std::vector<Axis>& axes);
// Returns the contraction that a stage computes. `store` is the flat index in the output buffer at
// which a value is stored, in terms of the stage's axes. Returns nothing if the stage is not a
// contraction or is better served by the reduction family.
std::optional<Contraction> AsContraction(const Stage& stage, const Expr& store,
                                         const Target& target);
// The same for a stage that stores its values itself.
std::optional<Contraction> AsContraction(const Stage& stage, const Target& target);

// The stages of a kernel as contractions; nothing for the others.
using Contractions = std::vector<std::optional<Contraction>>;

// Lets the stages before stages[which], a product of floats, keep the planes of their data. This
// applies to stages that pad a few planes and would interleave them. Returns true if there are such
// stages.
bool StorePlanes(loop::Kernel& kernel, size_t which, const Target& target);

// Loops of the kernel's stages if Winograd's filtering computes the contraction stages[which], as
// ContractionNest (register_tile.h) makes them of others.
struct WinogradProblem;
Stmt WinogradNest(const loop::Kernel& kernel, size_t which, const WinogradProblem& problem,
                  const ContractionChoice& choice, Context& context);

// True if the kernel has several products that share rows, and reductions between them.
bool HasSharedRows(const loop::Kernel& kernel, const Contractions& contractions,
                   const Target& target);
// Returns the loops of such a kernel. All stages of a block of rows are computed before the next
// block.
Stmt SharedRowsNest(const loop::Kernel& kernel, Context& context);

// One axis of a packed copy: its extent, and the distance of its elements in the original.
struct PackedAxis {
  int64_t extent;
  int64_t stride;
};
// Returns a copy of the constant `buffer` from element `base` on. `axes` are the axes of the copy,
// from the outermost to the innermost. If `columns` >= 0, axis number `block` counts blocks of the
// innermost axis, and only `columns` elements exist in all blocks together; the others are 0.
Buffer PackConstant(const Buffer& buffer, int64_t base, const std::vector<PackedAxis>& axes,
                    Context& context, size_t block = 0, int64_t columns = -1);

// Copies every constant that `stage` reads with a stride along the last axis of `order` to a layout
// in which that axis is contiguous, unless the copy would be larger.
Stage RelayoutConstants(const Stage& stage, const std::vector<Axis>& order, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_FAMILIES_H_
