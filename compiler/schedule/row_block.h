// SPDX-License-Identifier: Apache-2.0
// The stages of a block of rows that several products share (shared_rows.cc).
#ifndef KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_
#define KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_

#include <string>
#include <vector>

#include "compiler/schedule/families.h"

namespace kiln::schedule {

// The stages, one after the other, on one core, and how products are computed, behind `description`.
// With `stores_across` the last one, which computes its values element by element, stores along
// another axis than the one along which the stages before it store.
Stmt EmitRowBlock(const std::vector<Stage>& stages, bool stores_across, Context& context,
                  std::string* description);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_ROW_BLOCK_H_
