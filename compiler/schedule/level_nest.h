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
  // Row blocks are of several row tiles, whose level is the last.
  enum class Kind { kAxis, kOuterRowTiles, kRowBlocks, kRowTiles, kColumnBlocks, kParts };
  Kind kind;
  Var var;
  int64_t count;     // iterations
  int64_t tile = 1;  // what one covers of the axis …
  int64_t rest = 0;  // … and the last one, if it is less

  // Whether each iteration reads columns of its own.
  bool changes_columns() const { return kind == Kind::kColumnBlocks || kind == Kind::kParts; }
};

// A level of an axis in parts of `tile`.
Level TileLevel(Level::Kind kind, absl::string_view name, int64_t extent, int64_t tile);

// Builds the loops around EmitTile from the outermost in.
class LevelNest {
 public:
  LevelNest(const TiledContraction& t, std::vector<Level> levels)
      : t_(t), levels_(std::move(levels)) {}

  // Levels first … end - 1 as one parallel loop, the others serial. Row tiles are none of the first
  // where there are blocks of them.
  Stmt Emit(size_t first, size_t end);

 private:
  // What is inside of level i when it stands at `at`; `last`: at its smaller last iteration.
  Stmt Inside(size_t i, const Expr& at, bool last, const std::function<Stmt()>& inner);
  // `loop` behind what is done before a loop over blocks of columns.
  Stmt WithRows(size_t i, const std::function<Stmt()>& loop);
  Stmt Serial(size_t i);
  Stmt SerialLoop(size_t i);
  Stmt Parallel();
  // Level i of the fused ones, where `task` counts the iterations of this one and those inside, `total`
  // in all.
  Stmt Fused(size_t i, const Expr& task, int64_t total);
  Stmt FusedLoop(size_t i, const Expr& task, int64_t total);

  const TiledContraction& t_;
  std::vector<Level> levels_;
  size_t first_fused_ = 0, end_fused_ = 0;
  TilePlace place_;
};

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_LEVEL_NEST_H_
