// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/dot_tile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/loop/bfloat16.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// Returns the first of contiguous elements of a flat buffer. Returns nothing if the index is not
// a ramp of stride 1.
std::optional<Argument> FirstArgument(const Buffer& buffer, const std::vector<Expr>& index) {
  if (index.size() != 1 || buffer->whole != nullptr) return std::nullopt;
  const auto* ramp = index[0].As<Ramp>();
  if (ramp == nullptr || ramp->stride != 1) return std::nullopt;
  return Argument{buffer, ramp->base};
}

std::optional<Argument> FirstArgument(const Expr& e) {
  const auto* load = e.As<Load>();
  return load == nullptr ? std::nullopt : FirstArgument(load->buffer, load->index);
}

// Returns the number of elements from `first` to `other`, or nothing if the buffers differ.
std::optional<Expr> DistanceAsExpr(const Argument& first, const Argument& other) {
  if (first.buffer != other.buffer) return std::nullopt;
  return Simplify(other.offset - first.offset);
}

// As DistanceAsExpr, but returns nothing if the distance is not a constant.
std::optional<int64_t> Distance(const Argument& first, const Argument& other) {
  const std::optional<Expr> expr = DistanceAsExpr(first, other);
  int64_t distance = 0;
  if (!expr.has_value() || !AsInt(*expr, &distance)) return std::nullopt;
  return distance;
}

// Rows of a factor: the first element of the first row, and the distance between the starts of
// neighboring rows (0: the rows are stored without overlap).
struct Rows {
  Argument first;
  int slide = 0;
};

std::optional<Rows> RowsOf(const Expr& a) {
  const auto* interleaved = a.As<Interleave>();
  if (interleaved == nullptr) {
    const auto first = FirstArgument(a);
    return first.has_value() ? std::optional<Rows>(Rows{*first}) : std::nullopt;
  }
  std::vector<int64_t> distances;
  std::optional<Argument> first;
  for (const Expr& operand : interleaved->operands) {
    const auto row = FirstArgument(operand);
    if (!row.has_value()) return std::nullopt;
    if (!first.has_value()) first = row;
    const auto distance = Distance(*first, *row);
    if (!distance.has_value()) return std::nullopt;
    distances.push_back(*distance);
  }
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] != distances[1] * static_cast<int64_t>(i)) return std::nullopt;
  }
  const int slide = static_cast<int>(distances[1]);
  if (slide <= 0) return std::nullopt;
  return Rows{*first, slide};
}

Expr Neighbours(const Argument& first, int lanes) {
  return MakeLoad(first.buffer, {MakeRamp(first.offset, 1, lanes)});
}

bool IsSame(const Expr& a, const Expr& b) {
  int64_t x = 0, y = 0;
  return a.get() == b.get() || (AsInt(a, &x) && AsInt(b, &y) && x == y);
}

// Returns the chain of `dots` if the distances between the factors of neighboring dots are all
// equal. `a` and `b` belong to the first dot.
std::optional<DotTile::Chain> ChainOf(const std::vector<const Dot*>& dots, const Rows& a,
                                      const Argument& b) {
  DotTile::Chain chain{.length = static_cast<int>(dots.size())};
  for (size_t i = 1; i < dots.size(); ++i) {
    const auto rows = RowsOf(dots[i]->a);
    const auto columns = FirstArgument(dots[i]->b);
    const bool alike = dots[i]->kind == dots[0]->kind && rows.has_value() &&
                       rows->slide == a.slide && columns.has_value() &&
                       dots[i]->a.type() == dots[0]->a.type() &&
                       dots[i]->b.type() == dots[0]->b.type();
    if (!alike) return std::nullopt;
    const auto a_step = DistanceAsExpr(a.first, rows->first);
    const auto b_step = Distance(b, *columns);
    int64_t a_distance = 0;
    if (!a_step.has_value() || (AsInt(*a_step, &a_distance) && a_distance < 0) ||
        !b_step.has_value() || *b_step < 0) {
      return std::nullopt;
    }
    if (i == 1) chain = {chain.length, *a_step, *b_step};
    const auto times = static_cast<int64_t>(i);
    if (!IsInt(Simplify(*a_step - chain.a_step * Expr(times)), 0) ||
        *b_step != chain.b_step * times) {
      return std::nullopt;
    }
  }
  return chain;
}

// Returns the address from which `sum` is loaded if the store writes to the same address.
std::optional<Argument> SameSums(const Store& store, const Expr& sum) {
  const auto stored = FirstArgument(store.buffer, store.index), loaded = FirstArgument(sum);
  const bool same = stored.has_value() && loaded.has_value() && stored->buffer == loaded->buffer &&
                    IsSame(stored->offset, loaded->offset);
  return same ? loaded : std::nullopt;
}

}  // namespace

std::optional<Argument> SumsInPlace(const Store& store) {
  const auto* dot = store.value.As<Dot>();
  return dot == nullptr ? std::nullopt : SameSums(store, dot->sum);
}

std::optional<DotTile> AsDotTile(const Store& store) {
  // The last dot is outermost. Its sum is the dot before it.
  std::vector<const Dot*> dots;
  for (const Dot* dot = store.value.As<Dot>(); dot != nullptr; dot = dot->sum.As<Dot>()) {
    dots.insert(dots.begin(), dot);
  }
  if (dots.empty()) return std::nullopt;
  const Dot& dot = *dots.front();
  const auto sums = SameSums(store, dot.sum);
  const auto b = FirstArgument(dot.b);
  const auto a = RowsOf(dot.a);
  if (!sums.has_value() || !a.has_value() || !b.has_value()) return std::nullopt;
  const DotShape shape =
      *DotShape::Of(store.value.type().lanes, dot.a.type().lanes, dot.b.type().lanes, dot.kind);
  // Overlapping rows are interleaved element by element.
  const bool is_tile = a->slide == 0
                           ? (dot.kind.steps > 1 || dot.kind.column_run > 0) && dots.size() == 1
                           : dot.kind.steps == 1 && dot.kind.run == 1 && shape.columns == 1;
  const auto chain = is_tile ? ChainOf(dots, *a, *b) : std::nullopt;
  if (!chain.has_value()) return std::nullopt;
  return DotTile{.kind = dot.kind,
                 .shape = shape,
                 .sums = *sums,
                 .a = a->first,
                 .b = *b,
                 .slide = a->slide,
                 .chain = *chain};
}

int64_t DotTile::row_elements() const {
  int64_t elements = 0;
  return AsInt(chain.a_step, &elements) ? elements : 0;
}

int DotTile::StepsOfIteration(int steps) {
  for (int of_iteration = 4; of_iteration > 1; --of_iteration) {
    if (steps % of_iteration == 0) return of_iteration;
  }
  return 1;
}

std::optional<DotTile> AsDotTile(const For& loop) {
  const auto* block = loop.body.As<Block>();
  const auto* store = block == nullptr || block->stmts.empty() ? loop.body.As<Store>()
                                                               : block->stmts.back().As<Store>();
  if (store == nullptr || loop.kind != ForKind::kSerial || !IsInt(loop.begin, 0)) return {};
  std::optional<DotTile> tile = AsDotTile(*store);
  if (!tile.has_value() || tile->slide != 0 || Uses(tile->sums.offset, loop.var)) return {};
  if (block != nullptr) {
    tile->prefetches.assign(block->stmts.begin(), block->stmts.end() - 1);
    const bool only_prefetches =
        std::all_of(tile->prefetches.begin(), tile->prefetches.end(),
                    [](const Stmt& s) { return s.As<Prefetch>() != nullptr; });
    if (!only_prefetches || tile->kind.column_run == 0) return {};
    tile->repeat = loop.var;
  }
  // Moves an address to its value in the first iteration. Returns false if consecutive iterations
  // are not `elements` apart.
  const auto move_to_first = [&](Argument& address, int elements) {
    LinearForm form;
    if (!AsLinear(address.offset, {loop.var}, &form) || form.coefficients[0] != elements) {
      return false;
    }
    address.offset = form.base;
    return true;
  };
  const int terms = static_cast<int>(tile->kind.elements());
  if (!move_to_first(tile->a, tile->shape.rows * terms) ||
      !move_to_first(tile->b, tile->shape.columns * terms)) {
    return {};
  }
  tile->repeats = loop.extent;
  return tile;
}

Stmt RollDotTiles(const Stmt& s) {
  return MutateStmt(s, [](const Stmt& at) {
    const auto* store = at.As<Store>();
    const std::optional<DotTile> tile = store == nullptr ? std::nullopt : AsDotTile(*store);
    if (!tile.has_value() || tile->slide != 0) return at;
    DotKind kind = tile->kind;
    kind.steps = DotTile::StepsOfIteration(kind.steps);
    if (kind.steps == 1) return at;  // a tile has several steps
    const Var part = MakeVar("part");
    const int terms = static_cast<int>(kind.elements());
    const auto behind = [&](const Argument& first, int of_step) {
      return Argument{first.buffer, first.offset + part * Expr(of_step * terms)};
    };
    return MakeFor(
        part, 0, tile->kind.steps / kind.steps, ForKind::kSerial,
        MakeDotTile(kind, tile->shape.rows, tile->shape.columns, tile->sums,
                    behind(tile->a, tile->shape.rows), behind(tile->b, tile->shape.columns)));
  });
}

Stmt WrittenOut(const DotTile& tile) {
  const DotShape& shape = tile.shape;
  const DType sum_type = tile.sums.buffer->dtype;
  const bool of_floats = sum_type.is_float(), apart = of_floats && shape.sums_apart();
  const Var row = MakeVar("row"), column = MakeVar("column"), step = MakeVar("step"),
            run = MakeVar("run");
  const auto loop = [](const Var& var, const Expr& extent, const Stmt& body) {
    return MakeFor(var, 0, extent, ForKind::kSerial, body);
  };
  // Returns element `place` of a run of the column, and the element of the row that it is
  // multiplied by.
  const auto factors = [&](int place, const DotShape::Product& parts) {
    const Expr k = run * Expr(shape.column_run) + Expr(place), first = step * Expr(shape.parts);
    const Expr a = tile.a.offset + (first + Expr(parts.of_a)) * Expr(shape.rows * shape.group) +
                   shape.InStepOfA<Expr>(row, k);
    const Expr b = tile.b.offset + (first + Expr(parts.of_b)) * Expr(shape.columns * shape.group) +
                   shape.InStepOfB<Expr>(column, run, place);
    return std::pair(MakeLoad(tile.a.buffer, {a}), MakeLoad(tile.b.buffer, {b}));
  };
  const Expr sum_at = tile.sums.offset + row * Expr(shape.columns) + column;
  const Expr sum = MakeLoad(tile.sums.buffer, {sum_at});
  const auto store_sum = [&](const Expr& e) { return MakeStore(tile.sums.buffer, {sum_at}, e); };
  const Buffer sums_apart = MakeBuffer("apart", sum_type, {shape.column_run}, BufferScope::kLocal);
  std::vector<Stmt> of_step;
  for (const DotShape::Product& parts : shape.products()) {
    std::vector<Stmt> products;
    Expr together;  // sum over the places of a run
    for (int place = 0; place < shape.column_run; ++place) {
      if (!apart) {
        const auto [a, b] = factors(of_floats ? shape.TermOfBFloats(place) : place, parts);
        products.push_back(store_sum(of_floats
                                         ? AddBFloatProduct(sum, a, b)
                                         : sum + MakeCast(sum_type, a) * MakeCast(sum_type, b)));
        continue;
      }
      const auto [a, b] = factors(place, parts);
      const Expr of_place = MakeLoad(sums_apart, {Expr(place)});
      of_step.push_back(MakeStore(sums_apart, {Expr(place)}, Const(sum_type, 0)));
      products.push_back(MakeStore(sums_apart, {Expr(place)}, AddBFloatProduct(of_place, a, b)));
      together = place == 0 ? of_place : AddSumOfBFloats(together, of_place);
    }
    of_step.push_back(loop(run, shape.group / shape.column_run, MakeBlock(std::move(products))));
    if (apart) of_step.push_back(store_sum(AddSumOfBFloats(sum, together)));
  }
  const Expr steps = Simplify(tile.repeats * Expr(shape.steps));
  const Stmt body =
      loop(row, shape.rows,
           loop(column, shape.columns, loop(step, steps, MakeBlock(std::move(of_step)))));
  return apart ? MakeAllocate(sums_apart, body) : body;
}

Stmt MakeDotTile(const DotKind& kind, int rows, int columns, const Argument& sums,
                 const Argument& a, const Argument& b) {
  const int terms = static_cast<int>(kind.elements()), lanes = rows * columns;
  const Expr dot = MakeDot(kind, Neighbours(sums, lanes), Neighbours(a, rows * terms),
                           Neighbours(b, columns * terms));
  return MakeStore(sums.buffer, {MakeRamp(sums.offset, 1, lanes)}, dot);
}

Stmt MakeSlidingTile(const DotKind& kind, int rows, int slide, const DotTile::Chain& chain,
                     const Argument& sums, const Argument& a, const Argument& b) {
  Expr sum = Neighbours(sums, rows);
  for (int i = 0; i < chain.length; ++i) {
    const Expr first = a.offset + Expr(i) * chain.a_step;
    std::vector<Expr> windows;
    for (int row = 0; row < rows; ++row) {
      windows.push_back(Neighbours({a.buffer, first + Expr(row * slide)}, kind.group));
    }
    sum = MakeDot(kind, sum, MakeInterleave(std::move(windows)),
                  Neighbours({b.buffer, b.offset + Expr(i * chain.b_step)}, kind.group));
  }
  return MakeStore(sums.buffer, {MakeRamp(sums.offset, 1, rows)}, sum);
}

}  // namespace kiln::loop
