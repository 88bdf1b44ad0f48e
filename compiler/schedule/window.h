// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions on machines without vectors, by loops in assembly whose rows overlap
// (DotLoop::slide). A tile consists of neighboring outputs of one channel.
//
//   const std::optional<Window> window = FindWindow(kernel, context);  // before stages are inlined
//   if (window.has_value()) nest = WindowNest(kernel, *window, context);
//
// The rows of one channel are copied as the loops read them: contiguous, as int16, with their
// padding. Each copy has the rows that several rows of outputs read. Few elements are copied more
// than once.
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
  // An element of the data in terms of its row and column in the padded data. The data have the
  // rows in `rows` and the columns in `columns`. All other elements are `padding`.
  Var data_row = {}, data_column = {};
  Expr data = {};
  loop::Range rows = {}, columns = {};
  int64_t padding = 0;
  Buffer taps = nullptr;  // [channel][row][column]
  const DotInstruction* instruction = nullptr;
};

// Returns the window of a kernel. Returns nothing if no stage is such a sum, or the target has no
// loop for it.
std::optional<Window> FindWindow(const loop::Kernel& kernel, Context& context);

// Returns the loops of a kernel after its stages have been inlined. Returns nothing if it has other
// stages than the sum, its padding, and pointwise stages that read each sum once, or if the rows
// are too long for the loops.
std::optional<Stmt> WindowNest(const loop::Kernel& kernel, const Window& window, Context& context);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_WINDOW_H_
