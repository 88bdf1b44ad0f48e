// SPDX-License-Identifier: Apache-2.0
// The loops around the tiles of a contraction; for contraction.cc.
#ifndef KILN_COMPILER_SCHEDULE_LEVEL_NEST_H_
#define KILN_COMPILER_SCHEDULE_LEVEL_NEST_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/schedule/register_tile.h"

namespace kiln::schedule {

// One loop around the tiles.
struct Level {
  // A row block consists of several row tiles. The level of the row tiles is then the last one.
  enum class Kind { kAxis, kOuterRowTiles, kRowBlocks, kRowTiles, kColumnBlocks, kParts };
  Kind kind;
  Var var;
  int64_t count;     // iterations
  int64_t tile = 1;  // extent of one iteration along the axis
  int64_t rest = 0;  // extent of the last iteration, if it is smaller

  // True if each iteration reads different columns.
  bool changes_columns() const { return kind == Kind::kColumnBlocks || kind == Kind::kParts; }
};

// Returns a level that divides an axis into parts of `tile`.
Level TileLevel(Level::Kind kind, absl::string_view name, int64_t extent, int64_t tile);

// Builds the loops around EmitTile, from the outermost one inward.
class LevelNest {
 public:
  LevelNest(const TiledContraction& t, std::vector<Level> levels)
      : t_(t), levels_(std::move(levels)) {}

  // Returns the loops. Levels `first` to `end` - 1 become one parallel loop, and the others are
  // serial. If there are row blocks, the parallel loop does not include row tiles.
  Stmt Emit(size_t first, size_t end);

 private:
  // Returns the code inside of level i at iteration `at`. `last`: it is the smaller last iteration.
  Stmt Inside(size_t i, const Expr& at, bool last, const std::function<Stmt()>& inner);
  // Returns `loop`. If level i is a loop over blocks of columns, the code that prepares rows comes
  // first.
  Stmt WithRows(size_t i, const std::function<Stmt()>& loop);
  Stmt Serial(size_t i);
  Stmt SerialLoop(size_t i);
  Stmt Parallel();
  // Returns level i of the fused levels. `task` counts the iterations of this level and of those
  // inside; `total` is their number.
  Stmt Fused(size_t i, const Expr& task, int64_t total);
  Stmt FusedLoop(size_t i, const Expr& task, int64_t total);

  const TiledContraction& t_;
  std::vector<Level> levels_;
  size_t first_fused_ = 0, end_fused_ = 0;
  TilePlace place_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_LEVEL_NEST_H_
