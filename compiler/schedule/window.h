// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions on machines without vectors, by loops in assembly whose rows overlap
// (DotLoop::slide): a tile is neighbouring outputs of one channel.
//
//   const std::optional<Window> window = FindWindow(kernel, context);  // before stages are inlined
//   if (window.has_value()) nest = WindowNest(kernel, *window, context);
//
// The rows of one channel are copied as the loops read them, padding included: contiguous, of
// int16, as many as several rows of outputs read. Every element is copied little more than once.
#ifndef KILN_COMPILER_SCHEDULE_WINDOW_H_
#define KILN_COMPILER_SCHEDULE_WINDOW_H_

#include <optional>

#include "compiler/loop/range.h"
#include "compiler/schedule/families.h"
#include "compiler/target/instructions.h"

namespace kiln::schedule {

// sums[…, row, column, channel] = the sum over rows r and columns c of the window of
// padded[…, row * row_stride + r, column * column_stride + c, channel] * taps[r, c, channel].
struct Window {
  Axis row = {}, column = {}, channel = {};
  std::vector<Axis> outer = {};  // all other axes of the sums
  int64_t window_rows = 1;
  int64_t row_stride = 1, column_stride = 1;
  // An element of the data by two variables: its row and its column in the padded data. It is there
  // for those in `rows` and `columns`; elsewhere is `padding`.
  Var data_row = {}, data_column = {};
  Expr data = {};
  loop::Range rows = {}, columns = {};
  int64_t padding = 0;
  Buffer taps = nullptr;  // [channel][row][column]
  const DotInstruction* instruction = nullptr;
};

// Nothing if no stage is such a sum, or the target has no loop for it.
std::optional<Window> FindWindow(const loop::Kernel& kernel, Context& context);

// The kernel after its stages have been inlined. Nothing if it has other stages than the sum, its
// padding, and pointwise ones that read each sum once.
std::optional<Stmt> WindowNest(const loop::Kernel& kernel, const Window& window, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINDOW_H_
