// SPDX-License-Identifier: Apache-2.0
// Loops over blocks of tiles. The inputs of a block are transformed into scratch memory
// [point][tile][channel]. Then, for every block of columns, each point is a small matrix product (a
// register tile as in contraction.cc). The products are transformed to outputs, on which the
// epilogue is computed. All data of a block except the weights stay in the L2 cache. Weights are
// read once per block.
//
// Threads share the blocks of tiles. If an image is one block, they share first its tiles and then
// the blocks of columns.
#include "compiler/schedule/winograd_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/winograd_transform.h"

namespace kiln::schedule {
namespace {

// Builds the loops.
class Winograd {
 public:
  Winograd(const WinogradProblem& problem, const WinogradDivision& division, const Stage& stage,
           std::vector<Epilogue> epilogues, Context& context)
      : p_(problem),
        d_(division),
        w_(WinogradOf(division.outputs)),
        stage_(stage),
        epilogues_(std::move(epilogues)),
        context_(context),
        lanes_(context.Lanes(kFloat)),
        fma_(context.target.has_fma),
        parts_(context.target.cores) {}

  Stmt Emit(const Buffer& data) {
    const int64_t tiles = d_.block_tiles();
    const int64_t shared = d_.shares_columns() ? 1 : parts_;
    inputs_ = Scratch("winograd_input", {shared, w_.points(), tiles, p_.channels + lanes_});
    products_ = Scratch("winograd_product", {parts_, w_.points(), tiles, d_.tile.columns()});
    weights_ = PackWeights();
    return d_.shares_columns() ? ShareColumns(data) : ShareBlocks(data);
  }

 private:
  static constexpr DType kFloat = DType::Float(32);

  // A block of tiles, and the scratch memory that it uses.
  struct Place {
    Expr inputs, products;
    Expr image, first_row;
  };

  // Returns body(i, part) for all i < `count`. The parts run at once.
  Stmt Parts(int64_t count, const std::function<Stmt(const Expr&, const Expr&)>& body) const {
    const Var part = loop::MakeVar("part"), step = loop::MakeVar("step");
    const int64_t steps = DivideUp(count, parts_);
    const Expr i = part * Expr(steps) + step;
    Stmt inner = body(i, part);
    if (steps * parts_ > count) inner = loop::MakeIf(i < Expr(count), inner);
    return Nest({{part, parts_}}, ForKind::kParallel,
                Nest({{step, steps}}, ForKind::kSerial, inner));
  }

  // Each thread takes its own blocks of tiles.
  Stmt ShareBlocks(const Buffer& data) const {
    return Parts(p_.batch * d_.blocks(), [&](const Expr& block, const Expr& part) {
      const bool one = d_.blocks() == 1;
      const Place place = {
          .inputs = part,
          .products = part,
          .image = one ? block : block / Expr(d_.blocks()),
          .first_row = (one ? Expr(0) : block % Expr(d_.blocks())) * Expr(d_.block_rows)};
      const Var row = loop::MakeVar("tile_row"), column = loop::MakeVar("tile_column");
      const Var b = loop::MakeVar("block");
      return loop::MakeBlock(
          {Nest({{row, d_.block_rows}, {column, d_.tile_columns}}, ForKind::kSerial,
                TransformInput(data, place, row, column)),
           Nest({{b, d_.column_blocks(p_)}}, ForKind::kSerial, ColumnBlock(place, b))});
    });
  }

  // If an image is one block, each thread takes its own tiles, and then its own blocks of columns.
  Stmt ShareColumns(const Buffer& data) const {
    const Var image = loop::MakeVar("image"), tile = loop::MakeVar("tile");
    Place place = {.inputs = Expr(0), .products = Expr(0), .image = image, .first_row = Expr(0)};
    const Stmt inputs = Nest(
        {{tile, d_.block_tiles()}}, ForKind::kParallel,
        TransformInput(data, place, tile / Expr(d_.tile_columns), tile % Expr(d_.tile_columns)));
    const Stmt blocks = Parts(d_.column_blocks(p_), [&](const Expr& block, const Expr& part) {
      place.products = part;
      return ColumnBlock(place, block);
    });
    return Nest({{image, p_.batch}}, ForKind::kSerial, loop::MakeBlock({inputs, blocks}));
  }

  Buffer Scratch(std::string name, Shape shape) {
    const Buffer buffer =
        loop::MakeBuffer(std::move(name), kFloat, std::move(shape), loop::BufferScope::kWorkspace);
    context_.workspace.push_back(buffer);
    return buffer;
  }

  // Returns the packed weights: [block of columns][point][channel][column]. Columns after the last
  // one are 0.
  Buffer PackWeights() {
    const int64_t block_columns = d_.tile.columns();
    const int64_t blocks = d_.column_blocks(p_);
    const Shape shape = {blocks, w_.points(), p_.channels, block_columns};
    std::vector<float> packed(static_cast<size_t>(NumElements(shape)), 0.0f);
    const Tensor& original = FindConstant(context_, p_.weights)->tensor;
    const absl::Span<const float> from = original.values<float>();
    int64_t base = 0;
    loop::AsInt(p_.weights_form.base, &base);
    const std::vector<int64_t>& stride = p_.weights_form.coefficients;
    double g[kWinogradTaps * kWinogradTaps];
    for (int64_t c = 0; c < p_.channels; ++c) {
      for (int64_t o = 0; o < p_.columns; ++o) {
        for (int64_t k = 0; k < kWinogradTaps * kWinogradTaps; ++k) {
          g[k] = from[static_cast<size_t>(base + k / kWinogradTaps * stride[0] +
                                          k % kWinogradTaps * stride[1] + c * stride[2] +
                                          o * stride[3])];
        }
        const std::vector<float> points = TransformWeights(w_, g);
        for (int64_t point = 0; point < w_.points(); ++point) {
          const int64_t row = (o / block_columns * w_.points() + point) * p_.channels + c;
          packed[static_cast<size_t>(row * block_columns + o % block_columns)] =
              points[static_cast<size_t>(point)];
        }
      }
    }
    const Buffer buffer = loop::MakeBuffer(absl::StrCat(p_.weights->name, "_winograd"), kFloat,
                                           shape, loop::BufferScope::kConstant);
    context_.constants.push_back({buffer, Tensor::From<float>(shape, kFloat, packed)});
    return buffer;
  }

  // Returns vector `i` of a local array of vectors.
  Expr VectorAt(const Buffer& local, int64_t i, const Expr& lane) const {
    return loop::MakeLoad(local, {Expr(i * lanes_) + lane});
  }
  Buffer Local(absl::string_view name, int64_t vectors) const {
    return loop::MakeBuffer(std::string(name), kFloat, {vectors * lanes_},
                            loop::BufferScope::kLocal);
  }
  // Returns store(lane) for `lanes` lanes.
  static Stmt Lanes(int64_t lanes, const std::function<Stmt(const Expr&)>& store) {
    const Var lane = loop::MakeVar("lane");
    return Nest({{lane, lanes}}, ForKind::kVectorized, store(lane));
  }

  // Emits matrix · data · matrixᵀ on vectors, by way of a local array. `element(i, j, lane)` is an
  // element of the data, and `store(i, j, value, lane)` stores an element of the result.
  Stmt Transform(const WinogradMatrix& matrix, int64_t lanes,
                 const std::function<Expr(int64_t, int64_t, const Expr&)>& element,
                 const std::function<Stmt(int64_t, int64_t, const Expr&, const Expr&)>& store,
                 int64_t store_columns) const {
    const Buffer half = Local("half", matrix.rows * matrix.columns);
    std::vector<Stmt> body;
    for (int64_t j = 0; j < matrix.columns; ++j) {
      body.push_back(Lanes(lanes, [&](const Expr& lane) {
        const std::vector<Expr> products =
            Multiply(matrix, [&](int64_t i) { return element(i, j, lane); }, fma_);
        std::vector<Stmt> stores;
        for (int64_t i = 0; i < matrix.rows; ++i) {
          stores.push_back(loop::MakeStore(half, {Expr((i * matrix.columns + j) * lanes_) + lane},
                                           products[static_cast<size_t>(i)]));
        }
        return loop::MakeBlock(std::move(stores));
      }));
    }
    for (int64_t i = 0; i < matrix.rows; ++i) {
      body.push_back(Lanes(lanes, [&](const Expr& lane) {
        const std::vector<Expr> products = Multiply(
            matrix, [&](int64_t j) { return VectorAt(half, i * matrix.columns + j, lane); }, fma_);
        std::vector<Stmt> stores;
        for (int64_t j = 0; j < std::min(matrix.rows, store_columns); ++j) {
          stores.push_back(store(i, j, products[static_cast<size_t>(j)], lane));
        }
        return loop::MakeBlock(std::move(stores));
      }));
    }
    return loop::MakeAllocate(half, loop::MakeBlock(std::move(body)));
  }

  Stmt TransformInput(const Buffer& data, const Place& place, const Expr& row,
                      const Expr& column) const {
    const Expr tile = row * Expr(d_.tile_columns) + column;
    const auto vectors = [&](const Expr& channel, int64_t lanes) {
      return Transform(
          w_.input, lanes,
          [&](int64_t i, int64_t j, const Expr& lane) {
            return loop::MakeLoad(
                data, {place.image, (place.first_row + row) * Expr(d_.outputs) + Expr(i),
                       column * Expr(d_.outputs) + Expr(j), channel + lane});
          },
          [&](int64_t i, int64_t j, const Expr& value, const Expr& lane) {
            return loop::MakeStore(
                inputs_, {place.inputs, Expr(i * w_.inputs() + j), tile, channel + lane}, value);
          },
          w_.inputs());
    };
    std::vector<Stmt> body;
    const int64_t whole = p_.channels / lanes_;
    const Var v = loop::MakeVar("v");
    if (whole > 0) {
      body.push_back(Nest({{v, whole}}, ForKind::kSerial, vectors(v * Expr(lanes_), lanes_)));
    }
    if (const int64_t rest = p_.channels % lanes_; rest > 0) {
      body.push_back(vectors(Expr(whole * lanes_), rest));
    }
    return loop::MakeBlock(std::move(body));
  }

  Stmt ColumnBlock(const Place& place, const Expr& block) const {
    const int64_t columns = d_.tile.columns();
    const int64_t whole = p_.columns / columns, rest = p_.columns % columns;
    Stmt outputs;
    if (whole > 0) outputs = TransformOutputs(place, block, columns);
    if (rest > 0) {
      const Stmt last = TransformOutputs(place, Expr(whole), rest);
      outputs = whole > 0 ? loop::MakeIf(block < Expr(whole), outputs, last) : last;
    }
    return loop::MakeBlock({Products(place, block), outputs});
  }

  // Emits the matrix products of one block of columns, for all points. Weights that come from
  // memory are prefetched one point ahead.
  Stmt Products(const Place& place, const Expr& block) const {
    const Var point = loop::MakeVar("point"), row = loop::MakeVar("row"),
              channel = loop::MakeVar("channel"), column = loop::MakeVar("column");
    TiledContraction t{.sums = products_, .init = loop::Const(loop::Type::Of(kFloat), 0)};
    t.c.x = loop::MakeLoad(inputs_, {place.inputs, point, row, channel});
    t.c.rows = {{row, d_.block_tiles()}};
    t.c.column = {column, p_.columns};
    t.c.reduce = {{channel, p_.channels}};
    t.plan.tile = d_.tile;
    t.plan.columns = ContractionPlan::Columns::kPacked;
    t.block = loop::MakeVar("block");
    t.column = loop::MakeVar("column");
    t.y = loop::MakeLoad(weights_, {t.block, point, channel, t.column});
    t.c.y = t.y;
    t.machine = context_.target.machine;
    PlanReduction(t, context_.target, t.plan);
    t.epilogues = {{products_,
                    {place.products, point, row, t.column},
                    loop::MakeLoad(products_, {place.products, point, row, t.column})}};
    const int64_t rows = d_.tile.rows, whole = d_.block_tiles() / rows;
    const auto weight_bytes = static_cast<double>(weights_->num_bytes());
    if (d_.shares_columns() || !KeepsWeights(weight_bytes, context_.target)) {
      const int64_t elements = p_.channels * t.plan.tile.columns();
      t.shared_columns = {elements, DivideUp(d_.block_tiles(), rows), elements};
    }
    const auto tile = [&](const Expr& which, int64_t count) {
      return EmitTile(t, {.row = which * Expr(rows),
                          .rows = count,
                          .block = block,
                          .columns = t.plan.tile.columns(),
                          .pass = which});
    };
    std::vector<Stmt> body;
    const Var r = loop::MakeVar("row_tile");
    if (whole > 0) body.push_back(Nest({{r, whole}}, ForKind::kSerial, tile(r, rows)));
    if (const int64_t rest = d_.block_tiles() % rows; rest > 0) {
      body.push_back(tile(Expr(whole), rest));
    }
    return Nest({{point, w_.points()}}, ForKind::kSerial, loop::MakeBlock(std::move(body)));
  }

  Stmt TransformOutputs(const Place& place, const Expr& block, int64_t columns) const {
    const Var row = loop::MakeVar("tile_row");
    // Emits the outputs of a tile. Only `width` of its columns exist.
    const auto tile = [&](const Expr& column, int64_t width) {
      std::vector<Stmt> vectors;
      for (int64_t first = 0; first < columns; first += lanes_) {
        vectors.push_back(OutputVector(place, row, column, width, block, first,
                                       std::min(lanes_, columns - first)));
      }
      return loop::MakeBlock(std::move(vectors));
    };
    const int64_t whole = p_.width / d_.outputs;
    const Var column = loop::MakeVar("tile_column");
    std::vector<Stmt> body;
    if (whole > 0) {
      body.push_back(Nest({{column, whole}}, ForKind::kSerial, tile(column, d_.outputs)));
    }
    if (const int64_t rest = p_.width % d_.outputs; rest > 0) {
      body.push_back(tile(Expr(whole), rest));
    }
    return Nest({{row, d_.block_rows}}, ForKind::kSerial, loop::MakeBlock(std::move(body)));
  }

  // Emits the outputs of one tile for a vector of columns. Only `lanes` of these columns exist.
  Stmt OutputVector(const Place& place, const Expr& row, const Expr& column, int64_t width,
                    const Expr& block, int64_t first, int64_t lanes) const {
    const Buffer sums = Local("sums", d_.outputs * d_.outputs);
    const Expr tile = row * Expr(d_.tile_columns) + column;
    const Stmt transform = Transform(
        w_.output, lanes,
        [&](int64_t i, int64_t j, const Expr& lane) {
          return loop::MakeLoad(
              products_, {place.products, Expr(i * w_.inputs() + j), tile, Expr(first) + lane});
        },
        [&](int64_t i, int64_t j, const Expr& value, const Expr& lane) {
          return loop::MakeStore(sums, {Expr((i * d_.outputs + j) * lanes_) + lane}, value);
        },
        width);
    std::vector<Stmt> body = {transform};
    const bool every_row = p_.height % (d_.block_rows * d_.outputs) == 0;
    for (int64_t i = 0; i < d_.outputs; ++i) {
      const Expr h = (place.first_row + row) * Expr(d_.outputs) + Expr(i);
      std::vector<Stmt> stores;
      for (int64_t j = 0; j < width; ++j) {
        const Expr at_w = column * Expr(d_.outputs) + Expr(j);
        stores.push_back(Lanes(lanes, [&](const Expr& lane) {
          const Expr o = block * Expr(d_.tile.columns()) + Expr(first) + lane;
          return StoreOutput({place.image, h, at_w, o}, VectorAt(sums, i * d_.outputs + j, lane));
        }));
      }
      const Stmt line = loop::MakeBlock(std::move(stores));
      body.push_back(every_row ? line : loop::MakeIf(h < Expr(p_.height), line));
    }
    return loop::MakeAllocate(sums, loop::MakeBlock(std::move(body)));
  }

  Stmt StoreOutput(const std::vector<Expr>& at, const Expr& sum) const {
    loop::Substitution axes;
    for (size_t i = 0; i < at.size(); ++i) axes[stage_.axes[i].var.get()] = at[i];
    std::vector<Stmt> stores;
    for (const Epilogue& epilogue : epilogues_) {
      const Expr value = ReplaceLoads(epilogue.value, stage_.buffer,
                                      [&](const std::vector<Expr>&) { return sum; });
      std::vector<Expr> index;
      for (const Expr& i : epilogue.index) index.push_back(loop::Substitute(i, axes));
      stores.push_back(loop::MakeStore(epilogue.buffer, index, loop::Substitute(value, axes)));
    }
    return loop::MakeBlock(std::move(stores));
  }

  const WinogradProblem& p_;
  const WinogradDivision& d_;
  const WinogradTransform& w_;
  const Stage& stage_;
  std::vector<Epilogue> epilogues_;
  Context& context_;
  int64_t lanes_;
  bool fma_;
  int64_t parts_;  // parts that run at once, each with scratch memory of its own
  Buffer inputs_, products_, weights_;
};

}  // namespace

Stmt WinogradLoops(const WinogradProblem& problem, const WinogradDivision& division,
                   const Stage& stage, std::vector<Epilogue> epilogues, const Buffer& data,
                   Context& context) {
  return Winograd(problem, division, stage, std::move(epilogues), context).Emit(data);
}

}  // namespace kiln::schedule
