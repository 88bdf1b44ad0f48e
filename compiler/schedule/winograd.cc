// SPDX-License-Identifier: Apache-2.0
// Convolutions 3 × 3 with stride 1 by Winograd's minimal filtering, where the model says that this
// is faster than the direct sum.
//
// Blocks of tiles: their inputs are transformed into scratch memory [point][tile][channel]; then,
// for every block of columns, each point is a small matrix product (a register tile as in
// contraction.cc), and the products are transformed to outputs, on which the epilogue is computed.
// Everything of one block stays in the second cache but the weights, which are read once per block.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/winograd_transform.h"

namespace kiln::schedule {
namespace {

constexpr int64_t kMinChannels = 16;  // of inputs and of outputs
constexpr int64_t kMaxBlockTiles = 64;
// Bytes that all cores together get from the third cache or memory in the time of one vector
// multiply-add: what weights cost that do not stay in the second cache.
constexpr double kBytesPerMultiplyAdd = 4;
// Multiply-adds that reading, transforming and writing one vector takes besides its arithmetic.
constexpr double kTransformAccessCost = 2;

// Convolutions that take fewer vector multiply-adds are not worth scratch memory: some 25
// microseconds.
constexpr double kMinDirectCost = 100'000;
// Bytes that the weights may grow by for every vector multiply-add that is saved: a small layer is
// not worth weights four times as large.
constexpr double kBytesPerSavedMultiplyAdd = 4;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A stage that is such a convolution: out[n, h, w, o] = sum x[n, h + i, w + j, c] * y[i, j, c, o].
struct Problem {
  const loop::Load* x = nullptr;
  const loop::Constant* weights = nullptr;
  loop::LinearForm weights_form;  // in i, j, c, o
  int64_t batch = 1, height = 0, width = 0, channels = 0, columns = 0;
};

bool IsSumOf(const Expr& index, const Axis& a, const Axis& b) {
  const auto* sum = index.As<loop::Binary>();
  if (sum == nullptr || sum->op != loop::BinaryOp::kAdd) return false;
  const auto is = [](const Expr& e, const Axis& axis) { return e.get() == axis.var.get(); };
  return (is(sum->a, a) && is(sum->b, b)) || (is(sum->a, b) && is(sum->b, a));
}

const loop::Constant* FindConstant(const Context& context, const Buffer& buffer) {
  for (const loop::Constant& constant : context.constants) {
    if (constant.buffer == buffer) return &constant;
  }
  return nullptr;
}

std::optional<Problem> AsProblem(const Stage& stage, const Context& context) {
  const auto* product = stage.value.As<loop::Binary>();
  if (stage.combine != loop::Combine::kSum || stage.axes.size() != 4 || stage.reduce.size() != 3 ||
      stage.index.size() != 4 || product == nullptr || product->op != loop::BinaryOp::kMul ||
      stage.value.type() != loop::Type::Of(DType::Float(32))) {
    return std::nullopt;
  }
  for (size_t i = 0; i < 4; ++i) {
    if (stage.index[i].get() != stage.axes[i].var.get()) return std::nullopt;
  }
  const auto* x = product->a.As<loop::Load>();
  const auto* y = product->b.As<loop::Load>();
  if (x == nullptr || y == nullptr || x->index.size() != 4) return std::nullopt;
  const std::vector<Axis>& r = stage.reduce;
  const bool reads_alike =
      x->index[0].get() == stage.axes[0].var.get() && IsSumOf(x->index[1], stage.axes[1], r[0]) &&
      IsSumOf(x->index[2], stage.axes[2], r[1]) && x->index[3].get() == r[2].var.get();
  if (!reads_alike || r[0].extent != kWinogradTaps || r[1].extent != kWinogradTaps) {
    return std::nullopt;
  }
  Problem p{.x = x, .weights = FindConstant(context, y->buffer), .weights_form = {}};
  if (p.weights == nullptr) return std::nullopt;
  const std::optional<loop::LinearForm> form =
      FactorForm(product->b, {r[0], r[1], r[2], stage.axes[3]});
  int64_t base;
  if (!form.has_value() || !loop::AsInt(form->base, &base)) return std::nullopt;
  p.weights_form = *form;
  p.batch = stage.axes[0].extent;
  p.height = stage.axes[1].extent;
  p.width = stage.axes[2].extent;
  p.columns = stage.axes[3].extent;
  p.channels = r[2].extent;
  return p;
}

// How the tiles are divided.
struct Division {
  int64_t outputs = 4;       // m: a tile has m × m
  int64_t tile_rows = 0;     // rows of tiles
  int64_t tile_columns = 0;  // tiles in a row
  int64_t block_rows = 0;    // rows of tiles in a block
  TileShape tile = {};       // of the products
  double cost = 0;           // in vector multiply-adds

  int64_t blocks() const { return DivideUp(tile_rows, block_rows); }
  int64_t block_tiles() const { return block_rows * tile_columns; }
};

TileShape ProductTile(const Problem& p, int64_t tiles, const Target& target) {
  const DType dtype = DType::Float(32);
  return ChooseTile({.rows = tiles,
                     .columns = p.columns,
                     .reduce = p.channels,
                     .row_stride = (p.channels + target.Lanes(dtype)) * dtype.bytes(),
                     .dtype = dtype},
                    target);
}

// What weights cost that come from beyond the second cache `times` times, in multiply-adds.
double StreamCost(double bytes, int64_t times, const Target& target) {
  if (bytes <= static_cast<double>(target.l2_bytes) / 2) return 0;
  return bytes * static_cast<double>(times) / kBytesPerMultiplyAdd;
}

double DirectCost(const Problem& p, const Target& target) {
  const double lanes = target.Lanes(DType::Float(32));
  const double weights = static_cast<double>(9 * p.channels * p.columns);
  const double sums = static_cast<double>(p.batch * p.height * p.width) * weights / lanes;
  // The smaller of what it computes and what it waits for is hidden.
  return std::max(sums, StreamCost(4 * weights, p.batch, target));
}

Division Divide(const Problem& p, int64_t outputs, int64_t block_rows, const Target& target) {
  const WinogradTransform& w = WinogradOf(outputs);
  Division d{.outputs = outputs,
             .tile_rows = DivideUp(p.height, outputs),
             .tile_columns = DivideUp(p.width, outputs),
             .block_rows = block_rows};
  d.tile = ProductTile(p, d.block_tiles(), target);
  const double lanes = target.Lanes(DType::Float(32));
  const auto points = static_cast<double>(w.points());
  const auto tiles = static_cast<double>(p.batch * d.blocks() * d.block_tiles());
  const double weights = points * static_cast<double>(p.channels * p.columns);
  // The products' own efficiency, by the tail of their rows.
  const double row_waste =
      static_cast<double>(DivideUp(d.block_tiles(), d.tile.rows) * d.tile.rows) /
      static_cast<double>(d.block_tiles());
  const double products = tiles * weights / lanes * row_waste;
  const double input =
      tiles * static_cast<double>(p.channels) / lanes *
      (static_cast<double>(2 * w.inputs() * CostOf(w.input)) + 2 * points * kTransformAccessCost);
  const double output = tiles * static_cast<double>(p.columns) / lanes *
                        (static_cast<double>((w.inputs() + outputs) * CostOf(w.output)) +
                         2 * points * kTransformAccessCost);
  d.cost =
      std::max(products, StreamCost(4 * weights, p.batch * d.blocks(), target)) + input + output;
  return d;
}

// What the larger weights have to save at least, in multiply-adds.
double WorthOf(const Problem& p, int64_t outputs) {
  const int64_t points = WinogradOf(outputs).points() - kWinogradTaps * kWinogradTaps;
  return static_cast<double>(4 * points * p.channels * p.columns) / kBytesPerSavedMultiplyAdd;
}

// The best division; nothing if the direct sum is better.
std::optional<Division> ChooseDivision(const Problem& p, const Target& target) {
  std::optional<Division> best;
  for (int64_t outputs : {2, 4}) {
    const int64_t rows = DivideUp(p.height, outputs), columns = DivideUp(p.width, outputs);
    for (int64_t parts = 1; parts <= rows; ++parts) {
      const int64_t block_rows = DivideUp(rows, parts);
      if (block_rows > 1 && block_rows * columns > kMaxBlockTiles) continue;
      const Division d = Divide(p, outputs, block_rows, target);
      if (!best.has_value() || d.cost < best->cost) best = d;
    }
  }
  if (!best.has_value()) return std::nullopt;
  const double direct = DirectCost(p, target);
  if (direct < kMinDirectCost || best->cost + WorthOf(p, best->outputs) >= direct)
    return std::nullopt;
  return best;
}

// Builds the loops.
class Winograd {
 public:
  Winograd(const Problem& problem, const Division& division, const Stage& stage,
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

  // `data` is read with zeros around it: [batch, rows, columns, channels] that all tiles cover.
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

  // [point][block of columns][channel][column], columns beyond the last 0.
  Buffer PackWeights() {
    const int64_t block_columns = d_.tile.columns();
    const int64_t blocks = DivideUp(p_.columns, block_columns);
    const Shape shape = {blocks, w_.points(), p_.channels, block_columns};
    std::vector<float> packed(static_cast<size_t>(NumElements(shape)), 0.0f);
    const absl::Span<const float> from = p_.weights->tensor.values<float>();
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
    const Buffer buffer =
        loop::MakeBuffer(absl::StrCat(p_.weights->buffer->name, "_winograd"), kFloat, shape,
                         loop::BufferScope::kConstant, kVectorAlignment);
    context_.constants.push_back({buffer, Tensor::From<float>(shape, kFloat, packed)});
    return buffer;
  }

  // One vector of a local array of `count` vectors.
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
    t.fused_multiply_add = fma_;
    t.packed = true;
    t.block = loop::MakeVar("block");
    t.column = loop::MakeVar("column");
    t.y = loop::MakeLoad(weights_, {t.block, point, channel, t.column});
    t.c.y = t.y;
    t.prefetch_distance = PrefetchDistance(t, context_.target);
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

  const Problem& p_;
  const Division& d_;
  const WinogradTransform& w_;
  const Stage& stage_;
  std::vector<Epilogue> epilogues_;
  Context& context_;
  int64_t lanes_;
  bool fma_;
  int64_t parts_;  // that run at once, each with scratch memory of its own
  Buffer inputs_, products_, weights_;
};

// A stage that holds `value(index)` where that is within `from`, else 0.
Stage Extended(const Buffer& buffer, const Shape& from,
               const std::function<Expr(const std::vector<Expr>&)>& value) {
  Stage stage{.buffer = buffer,
              .axes = {},
              .index = {},
              .reduce = {},
              .combine = loop::Combine::kNone,
              .init = {},
              .value = {}};
  std::vector<Expr> clamped;
  Expr inside = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
  for (size_t i = 0; i < from.size(); ++i) {
    const Var var = loop::MakeVar(absl::StrCat("d", i));
    stage.axes.push_back({var, buffer->shape[i]});
    stage.index.push_back(var);
    const bool extended = buffer->shape[i] > from[i];
    clamped.push_back(extended ? loop::Min(var, Expr(from[i] - 1)) : Expr(var));
    if (extended) inside = inside && var < Expr(from[i]);
  }
  const Expr inner = value(clamped);
  stage.value = loop::MakeSelect(inside, inner, loop::Const(inner.type(), 0));
  return stage;
}

}  // namespace

std::optional<Stmt> WinogradNest(const loop::Kernel& kernel, size_t which, Context& context) {
  const Stage& stage = kernel.stages[which];
  if (context.target.is_baremetal() || context.Lanes(DType::Float(32)) < 4) return std::nullopt;
  const std::optional<Problem> p = AsProblem(stage, context);
  if (!p.has_value() || p->channels < kMinChannels || p->columns < kMinChannels)
    return std::nullopt;
  const std::optional<Division> d = ChooseDivision(*p, context.target);
  std::vector<Epilogue> epilogues;
  if (!d.has_value() || !CollectEpilogues(kernel, which, &epilogues)) return std::nullopt;

  const int64_t taps = kWinogradTaps - 1;
  const Shape shape = {p->batch, d->blocks() * d->block_rows * d->outputs + taps,
                       d->tile_columns * d->outputs + taps, p->channels};
  Buffer data = p->x->buffer;
  std::vector<Stmt> stmts;
  const Shape from = data->shape;
  const auto producer = std::find_if(kernel.stages.begin(), kernel.stages.end(),
                                     [&](const Stage& s) { return s.buffer == data; });
  const bool extend = shape != from;
  for (size_t i = 0; i < which; ++i) {
    const Stage& before = kernel.stages[i];
    const bool padding = before.buffer == data && before.combine == loop::Combine::kNone &&
                         before.index.size() == 4 && !IsOutput(kernel, data);
    if (padding && extend) continue;
    if (!IsOutput(kernel, before.buffer)) context.workspace.push_back(before.buffer);
    stmts.push_back(before.combine == loop::Combine::kNone ? PointwiseNest(before, context)
                                                           : ReductionStage(before, context));
  }
  if (extend) {
    data = loop::MakeBuffer(absl::StrCat(data->name, "_tiles"), data->dtype, shape,
                            loop::BufferScope::kWorkspace);
    context.workspace.push_back(data);
    const bool computed = producer != kernel.stages.end() &&
                          producer->combine == loop::Combine::kNone &&
                          !IsOutput(kernel, producer->buffer);
    const Stage stage_of_data = Extended(data, from, [&](const std::vector<Expr>& at) -> Expr {
      if (!computed) return loop::MakeLoad(p->x->buffer, at);
      loop::Substitution axes;
      for (size_t i = 0; i < at.size(); ++i) axes[producer->axes[i].var.get()] = at[i];
      return loop::Substitute(producer->value, axes);
    });
    stmts.push_back(PointwiseNest(stage_of_data, context));
  }
  context.description = absl::StrCat("winograd F(", d->outputs, "x", d->outputs, ",3x3) ",
                                     Text(d->tile), " blocks of ", d->block_tiles(), " tiles");
  stmts.push_back(Winograd(*p, *d, stage, std::move(epilogues), context).Emit(data));
  return loop::MakeBlock(std::move(stmts));
}

}  // namespace kiln::schedule
