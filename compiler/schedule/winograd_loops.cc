// SPDX-License-Identifier: Apache-2.0
// Blocks of tiles: their inputs are transformed into scratch memory [point][tile][channel]; then,
// for every block of columns, each point is a small matrix product (a register tile as in
// contraction.cc), and the products are transformed to outputs, on which the epilogue is computed.
// Everything of one block stays in the second cache but the weights, which are read once per block.
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
    inputs_ = Scratch("winograd_input", {parts_, w_.points(), tiles, p_.channels + lanes_});
    products_ = Scratch("winograd_product", {parts_, w_.points(), tiles, d_.tile.columns()});
    weights_ = PackWeights();
    const int64_t blocks = p_.batch * d_.blocks();
    const Var part = loop::MakeVar("part"), step = loop::MakeVar("step");
    const int64_t steps = DivideUp(blocks, parts_);
    const Expr block = part * Expr(steps) + step;
    const Expr image = d_.blocks() == 1 ? block : block / Expr(d_.blocks());
    const Expr first_row =
        (d_.blocks() == 1 ? Expr(0) : block % Expr(d_.blocks())) * Expr(d_.block_rows);
    Stmt body = loop::MakeBlock(
        {TransformInputs(data, part, image, first_row), ColumnBlocks(part, image, first_row)});
    if (steps * parts_ > blocks) body = loop::MakeIf(block < Expr(blocks), body);
    return Nest({{part, parts_}}, ForKind::kParallel,
                Nest({{step, steps}}, ForKind::kSerial, body));
  }

 private:
  static constexpr DType kFloat = DType::Float(32);

  Buffer Scratch(std::string name, Shape shape) {
    const Buffer buffer =
        loop::MakeBuffer(std::move(name), kFloat, std::move(shape), loop::BufferScope::kWorkspace);
    context_.workspace.push_back(buffer);
    return buffer;
  }

  // [block of columns][point][channel][column], columns beyond the last 0.
  Buffer PackWeights() {
    const int64_t block_columns = d_.tile.columns();
    const int64_t blocks = DivideUp(p_.columns, block_columns);
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
                                           shape, loop::BufferScope::kConstant, kVectorAlignment);
    context_.constants.push_back({buffer, Tensor::From<float>(shape, kFloat, packed)});
    return buffer;
  }

  // Vector `i` of a local array of vectors.
  Expr VectorAt(const Buffer& local, int64_t i, const Expr& lane) const {
    return loop::MakeLoad(local, {Expr(i * lanes_) + lane});
  }
  Buffer Local(absl::string_view name, int64_t vectors) const {
    return loop::MakeBuffer(std::string(name), kFloat, {vectors * lanes_},
                            loop::BufferScope::kLocal);
  }
  // store(lane) for `lanes` lanes.
  static Stmt Lanes(int64_t lanes, const std::function<Stmt(const Expr&)>& store) {
    const Var lane = loop::MakeVar("lane");
    return Nest({{lane, lanes}}, ForKind::kVectorized, store(lane));
  }

  // matrix · data · matrixᵀ on vectors: `element(i, j, lane)` to `store(i, j, value, lane)`, by way
  // of a local array.
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

  Stmt TransformInputs(const Buffer& data, const Expr& part, const Expr& image,
                       const Expr& first_row) const {
    const Var row = loop::MakeVar("tile_row"), column = loop::MakeVar("tile_column");
    const Expr tile = row * Expr(d_.tile_columns) + column;
    const auto vectors = [&](const Expr& channel, int64_t lanes) {
      return Transform(
          w_.input, lanes,
          [&](int64_t i, int64_t j, const Expr& lane) {
            return loop::MakeLoad(data, {image, (first_row + row) * Expr(d_.outputs) + Expr(i),
                                         column * Expr(d_.outputs) + Expr(j), channel + lane});
          },
          [&](int64_t i, int64_t j, const Expr& value, const Expr& lane) {
            return loop::MakeStore(inputs_, {part, Expr(i * w_.inputs() + j), tile, channel + lane},
                                   value);
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
    return Nest({{row, d_.block_rows}, {column, d_.tile_columns}}, ForKind::kSerial,
                loop::MakeBlock(std::move(body)));
  }

  Stmt ColumnBlocks(const Expr& part, const Expr& image, const Expr& first_row) const {
    const int64_t columns = d_.tile.columns();
    const int64_t whole = p_.columns / columns;
    const auto block = [&](const Expr& b, int64_t count) {
      return loop::MakeBlock(
          {Products(part, b), TransformOutputs(part, image, first_row, b, count)});
    };
    std::vector<Stmt> body;
    const Var b = loop::MakeVar("block");
    if (whole > 0) body.push_back(Nest({{b, whole}}, ForKind::kSerial, block(b, columns)));
    if (const int64_t rest = p_.columns % columns; rest > 0) {
      body.push_back(block(Expr(whole), rest));
    }
    return loop::MakeBlock(std::move(body));
  }

  // The matrix products of one block of columns, all points.
  Stmt Products(const Expr& part, const Expr& block) const {
    const Var point = loop::MakeVar("point"), row = loop::MakeVar("row"),
              channel = loop::MakeVar("channel"), column = loop::MakeVar("column");
    TiledContraction t{.sums = products_, .init = loop::Const(loop::Type::Of(kFloat), 0)};
    t.c.x = loop::MakeLoad(inputs_, {part, point, row, channel});
    t.c.rows = {{row, d_.block_tiles()}};
    t.c.column = {column, p_.columns};
    t.c.reduce = {{channel, p_.channels}};
    t.tile = d_.tile;
    t.packed = true;
    t.block = loop::MakeVar("block");
    t.column = loop::MakeVar("column");
    t.y = loop::MakeLoad(weights_, {t.block, point, channel, t.column});
    t.c.y = t.y;
    SetReduction(t, context_.target);
    t.epilogues = {{products_,
                    {part, point, row, t.column},
                    loop::MakeLoad(products_, {part, point, row, t.column})}};
    const int64_t rows = d_.tile.rows, whole = d_.block_tiles() / rows;
    const auto tile = [&](const Expr& first, int64_t count) {
      return EmitTile(t,
                      {.row = first, .rows = count, .block = block, .columns = t.tile.columns()});
    };
    std::vector<Stmt> body;
    const Var r = loop::MakeVar("row_tile");
    if (whole > 0) body.push_back(Nest({{r, whole}}, ForKind::kSerial, tile(r * Expr(rows), rows)));
    if (const int64_t rest = d_.block_tiles() % rows; rest > 0) {
      body.push_back(tile(Expr(whole * rows), rest));
    }
    return Nest({{point, w_.points()}}, ForKind::kSerial, loop::MakeBlock(std::move(body)));
  }

  Stmt TransformOutputs(const Expr& part, const Expr& image, const Expr& first_row,
                        const Expr& block, int64_t columns) const {
    const Var row = loop::MakeVar("tile_row");
    // `width` outputs of a tile exist.
    const auto tile = [&](const Expr& column, int64_t width) {
      std::vector<Stmt> vectors;
      for (int64_t first = 0; first < columns; first += lanes_) {
        vectors.push_back(OutputVector(part, image, first_row + row, row, column, width, block,
                                       first, std::min(lanes_, columns - first)));
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

  // A vector of columns of one tile, `lanes` of which exist.
  Stmt OutputVector(const Expr& part, const Expr& image, const Expr& tile_row, const Expr& row,
                    const Expr& column, int64_t width, const Expr& block, int64_t first,
                    int64_t lanes) const {
    const Buffer sums = Local("sums", d_.outputs * d_.outputs);
    const Expr tile = row * Expr(d_.tile_columns) + column;
    const Stmt transform = Transform(
        w_.output, lanes,
        [&](int64_t i, int64_t j, const Expr& lane) {
          return loop::MakeLoad(products_,
                                {part, Expr(i * w_.inputs() + j), tile, Expr(first) + lane});
        },
        [&](int64_t i, int64_t j, const Expr& value, const Expr& lane) {
          return loop::MakeStore(sums, {Expr((i * d_.outputs + j) * lanes_) + lane}, value);
        },
        width);
    std::vector<Stmt> body = {transform};
    const bool every_row = p_.height % (d_.block_rows * d_.outputs) == 0;
    for (int64_t i = 0; i < d_.outputs; ++i) {
      const Expr h = tile_row * Expr(d_.outputs) + Expr(i);
      std::vector<Stmt> stores;
      for (int64_t j = 0; j < width; ++j) {
        const Expr at_w = column * Expr(d_.outputs) + Expr(j);
        stores.push_back(Lanes(lanes, [&](const Expr& lane) {
          const Expr o = block * Expr(d_.tile.columns()) + Expr(first) + lane;
          return StoreOutput({image, h, at_w, o}, VectorAt(sums, i * d_.outputs + j, lane));
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
  int64_t parts_;  // that run at once, each with scratch memory of its own
  Buffer inputs_, products_, weights_;
};

}  // namespace

Stmt WinogradLoops(const WinogradProblem& problem, const WinogradDivision& division,
                   const Stage& stage, std::vector<Epilogue> epilogues, const Buffer& data,
                   Context& context) {
  return Winograd(problem, division, stage, std::move(epilogues), context).Emit(data);
}

}  // namespace kiln::schedule
