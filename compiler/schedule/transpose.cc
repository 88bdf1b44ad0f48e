// SPDX-License-Identifier: Apache-2.0
// Stages whose data are contiguous along another axis than their output. Loads of single elements
// would read a cache line each. Instead, a tile of both axes is loaded as vectors along the data,
// and transposed in registers.
#include <algorithm>
#include <bit>

#include "compiler/schedule/families.h"

namespace kiln::schedule {
namespace {

// A stage whose innermost axis crosses the data of `loads`, which are contiguous along another
// axis.
struct Crossing {
  size_t along;  // position of the axis along which the data lie
  std::vector<LinearAccess> loads;
  bool all = true;  // every load that differs along the innermost axis is one of these
};

const loop::Load& LoadOfAccess(const LinearAccess& access) {
  return std::get<loop::Load>(access.load->value);
}

std::optional<Crossing> FindCrossing(const Stage& stage, int64_t max_small_stride) {
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  const AccessSet set = CollectAccesses(stage.value, VarsOfAxes(stage.axes), bounds);
  if (!set.all_linear) return std::nullopt;
  Crossing crossing{.along = stage.axes.size(), .loads = {}};
  for (const LinearAccess& access : set.linear) {
    const std::vector<int64_t>& strides = access.form.coefficients;
    if (LoadOfAccess(access).index.size() != 1) return std::nullopt;
    if (strides.back() == 0) continue;
    if (strides.back() <= max_small_stride) {
      crossing.all = false;
      continue;
    }
    const auto along =
        static_cast<size_t>(std::find(strides.begin(), strides.end(), 1) - strides.begin());
    const bool same =
        crossing.loads.empty() ||
        (crossing.along == along && access.buffer->dtype == crossing.loads[0].buffer->dtype);
    if (along >= stage.axes.size() || !same) {
      return std::nullopt;
    }
    crossing.along = along;
    crossing.loads.push_back(access);
  }
  if (crossing.loads.empty()) return std::nullopt;
  return crossing;
}

// Tiles [begin, begin + size) of an axis. If they leave a rest, a last tile overlaps the whole
// ones.
struct Side {
  int64_t extent;
  int64_t size;

  int64_t whole() const { return extent / size; }
  bool has_rest() const { return extent % size != 0; }
};

Side SideOf(int64_t extent, int64_t lanes, int64_t max_side) {
  const auto fits = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(extent)));
  return {extent, std::min({lanes, max_side, fits})};
}

// A tile in local memory, and the statements that load it.
struct LocalTile {
  Buffer buffer;
  std::vector<Buffer> allocated;  // this buffer and those of the earlier steps
  std::vector<Stmt> stmts;
};

// Transposes `rows`, which are vectors of `lanes` elements: element (row, lane) is stored at lane *
// rows + row. Each step puts the elements of the first half of the vectors between those of the
// second half, two vectors at a time. This moves the highest bit of every element's position to the
// lowest place. The memory of the steps becomes registers.
LocalTile Transposed(std::vector<Expr> rows, int lanes, const std::string& name) {
  const size_t half = rows.size() / 2;
  const DType dtype = rows[0].type().dtype;
  LocalTile tile;
  for (size_t done = 1; done < rows.size(); done *= 2) {
    tile.buffer = loop::MakeBuffer(name, dtype, {static_cast<int64_t>(rows.size()) * lanes},
                                   loop::BufferScope::kLocal);
    tile.allocated.push_back(tile.buffer);
    const auto vectors = [&](size_t first, int count) {
      return loop::MakeRamp(Expr(static_cast<int64_t>(first) * lanes), 1, count * lanes);
    };
    for (size_t i = 0; i < half; ++i) {
      tile.stmts.push_back(loop::MakeStore(tile.buffer, {vectors(2 * i, 2)},
                                           loop::MakeInterleave({rows[i], rows[i + half]})));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = loop::MakeLoad(tile.buffer, {vectors(i, 1)});
    }
  }
  return tile;
}

// Emits the stage at [along_begin, …) x [inner_begin, …).
Stmt Tile(const Stage& stage, const Crossing& crossing, const Expr& along_begin, int64_t along_size,
          const Expr& inner_begin, int64_t inner_size) {
  const Axis &along = stage.axes[crossing.along], &inner = stage.axes.back();
  const Axis row = {loop::MakeVar("row"), along_size}, lane = {loop::MakeVar("lane"), inner_size};
  const auto lanes = static_cast<int>(along_size);
  loop::Substitution transposed;
  std::vector<Buffer> allocated;
  std::vector<Stmt> stmts;
  for (const LinearAccess& access : crossing.loads) {
    std::vector<Expr> rows;
    for (int64_t k = 0; k < inner_size; ++k) {
      const Expr first = loop::Substitute(
          LoadOfAccess(access).index[0],
          {{along.var.get(), along_begin}, {inner.var.get(), inner_begin + Expr(k)}});
      rows.push_back(loop::MakeLoad(access.buffer, {loop::MakeRamp(first, 1, lanes)}));
    }
    const LocalTile tile = Transposed(std::move(rows), lanes, access.buffer->name + "_transposed");
    stmts.insert(stmts.end(), tile.stmts.begin(), tile.stmts.end());
    allocated.insert(allocated.end(), tile.allocated.begin(), tile.allocated.end());
    transposed[access.load] = loop::MakeLoad(tile.buffer, {row.var * Expr(inner_size) + lane.var});
  }
  const loop::Substitution at = {{along.var.get(), along_begin + row.var},
                                 {inner.var.get(), inner_begin + lane.var}};
  Stage part = stage;
  part.axes = {row, lane};
  part.value = loop::Substitute(loop::Substitute(stage.value, transposed), at);
  part.index = {loop::Substitute(stage.index[0], at)};
  part = MergeAxes(part);
  const Stmt store = loop::MakeStore(part.buffer, part.index, part.value);
  const std::vector<Axis> outer(part.axes.begin(), part.axes.end() - 1);
  stmts.push_back(
      Nest(outer, ForKind::kUnrolled, Nest({part.axes.back()}, ForKind::kVectorized, store)));
  Stmt body = loop::MakeBlock(std::move(stmts));
  for (const Buffer& buffer : allocated) body = loop::MakeAllocate(buffer, body);
  return body;
}

// Returns `tile` at the beginning of each tile of a side.
Stmt Along(const Side& side, const std::function<Stmt(const Expr& begin)>& tile) {
  const Var which = loop::MakeVar("columns");
  std::vector<Stmt> parts = {
      Nest({{which, side.whole()}}, ForKind::kSerial, tile(which * Expr(side.size)))};
  if (side.has_rest()) parts.push_back(tile(Expr(side.extent - side.size)));
  return loop::MakeBlock(std::move(parts));
}

// Returns `tiles(begin, count)` for all blocks of tiles that follow each other along the data.
Stmt Blocks(const Side& side, int64_t tiles_of_block, ForKind kind,
            const std::function<Stmt(const Expr& begin, int64_t count)>& tiles) {
  const int64_t blocks = side.whole() / tiles_of_block, rest = side.whole() % tiles_of_block;
  const int64_t block_size = tiles_of_block * side.size;
  std::vector<Stmt> parts;
  if (blocks > 0) {
    const Var block = loop::MakeVar("block");
    parts.push_back(Nest({{block, blocks}}, kind, tiles(block * Expr(block_size), tiles_of_block)));
  }
  if (rest > 0) parts.push_back(tiles(Expr(blocks * block_size), rest));
  if (side.has_rest()) parts.push_back(tiles(Expr(side.extent - side.size), 1));
  return loop::MakeBlock(std::move(parts));
}

}  // namespace

std::optional<Stmt> TransposedNest(const Stage& stage, bool threads, Context& context) {
  if (context.target.by_c_compiler || stage.axes.size() < 2 || stage.index.size() != 1) {
    return std::nullopt;
  }
  const TransposeNumbers& numbers = context.target.machine->transposes;
  const std::optional<Crossing> crossing = FindCrossing(stage, numbers.max_small_stride);
  if (!crossing.has_value()) return std::nullopt;
  const int64_t lanes = context.Lanes(crossing->loads[0].buffer->dtype);
  const Side along = SideOf(stage.axes[crossing->along].extent, lanes, numbers.max_side);
  const Side inner = SideOf(stage.axes.back().extent, lanes, numbers.max_side);
  if (std::min(along.size, inner.size) < numbers.min_side) return std::nullopt;
  // Elements in overlapping tiles are computed twice. This changes the result only if an element is
  // read from the place at which it is stored.
  if (!crossing->all && (along.has_rest() || inner.has_rest())) return std::nullopt;

  std::vector<Axis> outer(stage.axes.begin(), stage.axes.end() - 1);
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(crossing->along));
  const bool share_blocks =
      outer.empty() || outer[0].extent < along.whole() / numbers.tiles_per_block;
  const auto kind = [&](bool shared) {
    return threads && shared ? ForKind::kParallel : ForKind::kSerial;
  };
  Stmt nest = Blocks(along, numbers.tiles_per_block, kind(share_blocks),
                     [&](const Expr& begin, int64_t count) {
                       return Along(inner, [&](const Expr& inner_begin) {
                         const Var t = loop::MakeVar("tile");
                         return Nest({{t, count}}, ForKind::kSerial,
                                     Tile(stage, *crossing, begin + t * Expr(along.size),
                                          along.size, inner_begin, inner.size));
                       });
                     });
  for (size_t i = outer.size(); i-- > 0;) {
    nest = Nest({outer[i]}, kind(i == 0 && !share_blocks), std::move(nest));
  }
  if (context.description.empty()) context.description = "transpose";
  return nest;
}

}  // namespace kiln::schedule
