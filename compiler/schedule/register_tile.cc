// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

loop::Substitution AtRow(const TiledContraction& t, const TilePlace& place, const Expr& outer,
                         const Expr& row) {
  loop::Substitution at;
  const size_t num_rows = t.c.rows.size();
  if (num_rows >= 1) at[t.c.rows[num_rows - 1].var.get()] = place.row + row;
  // If the tile has one outer row, the outer row axis has a loop of its own.
  if (t.plan.tile.outer_rows > 1) at[t.c.rows[num_rows - 2].var.get()] = place.outer_row + outer;
  return at;
}

}  // namespace kiln::schedule
