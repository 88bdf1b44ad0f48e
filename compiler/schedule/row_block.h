// SPDX-License-Identifier: Apache-2.0
// The stages of a block of rows that several products share (shared_rows.cc).
#ifndef KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_
#define KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_

#include <string>
#include <vector>

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// Returns the stages, one after another, on one core. Appends to `description` how products are
// computed. With `stores_across`, the last stage, which computes its values element by element,
// stores along another axis than the stages before it.
Stmt EmitRowBlock(const std::vector<Stage>& stages, bool stores_across, Context& context,
                  std::string* description);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_
