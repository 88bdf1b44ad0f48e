// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/byte_dot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::schedule {
namespace {

using loop::BinaryOp;

constexpr int64_t kGroup = 4;      // products of one lane of the instruction
constexpr int64_t kMinReduce = 4;  // fewer products are none of the instruction's
// Of a tile's copied rows, which are on the stack.
constexpr int64_t kMaxLocalBytes = 256 << 10;
constexpr int64_t kMinY = -128, kMaxY = 127;
constexpr int64_t kSignBit = 128;

const DType kI32 = DType::Int(32), kU8 = DType::UInt(8), kI8 = DType::Int(8);

bool IsByte(DType dtype) { return dtype.is_integral() && !dtype.is_bool() && dtype.bits == 8; }

// c, so that all of a constant minus c are signed bytes; nothing if they are spread too far.
std::optional<int64_t> ColumnShift(const Tensor& tensor) {
  const int64_t count = tensor.type().num_elements();
  int64_t least = 0, most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = tensor.AsInt(i);
    least = i == 0 ? value : std::min(least, value);
    most = i == 0 ? value : std::max(most, value);
  }
  if (least >= kMinY && most <= kMaxY) return 0;
  if (most - least > kMaxY - kMinY) return std::nullopt;
  return least - kMinY;
}

const loop::Constant* ConstantFactor(const Expr& factor, const Context& context) {
  const loop::Load* load = FactorLoad(factor);
  return load == nullptr ? nullptr : FindConstant(context, load->buffer);
}

Expr Flipped(const Expr& byte) {
  return loop::MakeBinary(BinaryOp::kXor, loop::MakeCast(kU8, byte),
                          loop::IntConst(loop::Type::Of(kU8), kSignBit));
}

// Calls f(index) for every index of axes with these extents, in order.
template <typename F>
void ForEachIndex(const std::vector<Axis>& axes, const F& f) {
  std::vector<int64_t> index(axes.size(), 0);
  for (int64_t n = TotalExtent(axes); n > 0; --n) {
    f(index);
    for (size_t d = axes.size(); d-- > 0 && ++index[d] == axes[d].extent;) index[d] = 0;
  }
}

int64_t Dot(const std::vector<int64_t>& index, const int64_t* coefficients) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * coefficients[i];
  return sum;
}

// The column factor as the instruction reads it, [batch…][block][step][column][4], and what every
// sum begins with, [batch…][block][column].
struct PackedBytes {
  Buffer columns, offsets;
};

PackedBytes PackBytes(const TiledContraction& t, Context& context) {
  const ByteDot& dot = *t.dot;
  const loop::Load* load = FactorLoad(t.c.y);
  const Tensor& source = FindConstant(context, load->buffer)->tensor;
  std::vector<Axis> order = t.c.batch;
  order.insert(order.end(), t.c.reduce.begin(), t.c.reduce.end());
  order.push_back(t.c.column);
  const loop::LinearForm form = *FactorForm(t.c.y, order);
  int64_t base = 0;
  loop::AsInt(form.base, &base);
  const int64_t* of_reduce = form.coefficients.data() + t.c.batch.size();
  const int64_t of_column = form.coefficients.back();
  std::vector<int64_t> steps;  // offsets along the reduction
  ForEachIndex(t.c.reduce,
               [&](const std::vector<int64_t>& index) { steps.push_back(Dot(index, of_reduce)); });

  const int64_t width = t.tile.columns(), blocks = DivideUp(t.c.column.extent, width);
  const int64_t block_bytes = dot.steps * width * dot.group;
  const auto total = static_cast<size_t>(TotalExtent(t.c.batch) * blocks);
  std::string bytes(total * static_cast<size_t>(block_bytes), '\0');
  std::vector<int32_t> offsets(total * static_cast<size_t>(width), 0);
  const int64_t d = dot.flips_rows ? kSignBit : 0;
  // The rows' sums are of x where they are read as they lie in memory, of x' where they are copied.
  const int64_t of_all = dot.panel ? -d * dot.shift * static_cast<int64_t>(steps.size()) : 0;
  char* out = bytes.data();
  size_t place = 0;
  ForEachIndex(t.c.batch, [&](const std::vector<int64_t>& index) {
    const int64_t begin = base + Dot(index, form.coefficients.data());
    for (int64_t b = 0; b < blocks; ++b, out += block_bytes) {
      for (int64_t column = 0; column < width; ++column, ++place) {
        const int64_t n = b * width + column;
        if (n >= t.c.column.extent) continue;
        int64_t sum = 0;
        for (size_t k = 0; k < steps.size(); ++k) {
          const int64_t value = source.AsInt(begin + steps[k] + n * of_column) - dot.shift;
          sum += value;
          const auto at = static_cast<int64_t>(k);
          out[(at / dot.group * width + column) * dot.group + at % dot.group] =
              static_cast<char>(value);
        }
        offsets[place] = static_cast<int32_t>(of_all - d * sum);
      }
    }
  });

  Shape shape, offset_shape;
  for (const Axis& axis : t.c.batch) shape.push_back(axis.extent);
  shape.push_back(blocks);
  offset_shape = shape;
  shape.insert(shape.end(), {dot.steps, width * dot.group});
  offset_shape.push_back(width);
  const std::string& name = load->buffer->name;
  PackedBytes packed = {.columns = loop::MakeBuffer(absl::StrCat(name, "_packed"), kI8, shape,
                                                    loop::BufferScope::kConstant),
                        .offsets = loop::MakeBuffer(absl::StrCat(name, "_offsets"), kI32,
                                                    offset_shape, loop::BufferScope::kConstant)};
  context.constants.push_back({packed.columns, Tensor({shape, kI8}, std::move(bytes))});
  context.constants.push_back({packed.offsets, Tensor::From<int32_t>(offset_shape, kI32, offsets)});
  return packed;
}

// Copies the rows of a tile, each element of the reduction behind the other: x', and zeros behind
// the last.
Stmt FillPanel(const TiledContraction& t, const Expr& value, const Buffer& panel,
               const TilePlace& place) {
  const Axis outer = {loop::MakeVar("outer"), place.outer_rows},
             row = {loop::MakeVar("m"), place.rows};
  loop::Substitution at = AtRow(t, place, outer.var, row.var);
  Expr step = 0;
  std::vector<Axis> reduce;
  for (const Axis& axis : t.c.reduce) {
    const Var fresh = loop::MakeVar(axis.var.As<loop::VarNode>()->name);
    at[axis.var.get()] = fresh;
    step = step * Expr(axis.extent) + fresh;
    reduce.push_back({fresh, axis.extent});
  }
  const Expr tile_row = outer.var * Expr(place.rows) + row.var;
  const Expr byte = loop::Substitute(value, at);
  const Axis inner = reduce.back();
  reduce.pop_back();
  Stmt copy =
      Nest({inner}, ForKind::kVectorized,
           loop::MakeStore(panel, {tile_row, step}, t.dot->flips_rows ? Flipped(byte) : byte));
  copy = Nest(reduce, ForKind::kSerial, copy);
  const int64_t filled = TotalExtent(t.c.reduce), zeros = panel->shape[1] - filled;
  if (zeros > 0) {
    const Var z = loop::MakeVar("z");
    copy = loop::MakeBlock(
        {copy, Nest({{z, zeros}}, ForKind::kUnrolled,
                    loop::MakeStore(panel, {tile_row, Expr(filled) + z},
                                    loop::IntConst(loop::Type::Of(panel->dtype), 0)))});
  }
  return Nest({outer, row}, ForKind::kSerial, copy);
}

// Stores c times the sum of every row of a tile. `byte_at(row, k)`: an element of the row.
Stmt SumRows(const TiledContraction& t, const Buffer& sums, const Buffer& ones,
             const std::function<Expr(const Expr& row, const Expr& k)>& byte_at,
             const TilePlace& place) {
  const Var row = loop::MakeVar("m");
  const int64_t group = t.dot->group, bytes = t.dot->steps * group;
  int64_t lanes = t.tile.lanes;
  while (lanes > 1 && lanes * group > bytes) lanes /= 2;
  const Buffer acc = loop::MakeBuffer("row_acc", kI32, {lanes}, loop::BufferScope::kLocal);
  const auto each = [&](int64_t count, const std::function<Expr(const Expr& lane)>& value) {
    const Var lane = loop::MakeVar("lane");
    return loop::MakeFor(lane, 0, count, ForKind::kVectorized,
                         loop::MakeStore(acc, {lane}, value(lane)));
  };
  // Adds `count` lanes of products with ones from element `k` on.
  const auto add = [&](const Expr& k, int64_t count) {
    return each(count, [&](const Expr& lane) {
      Expr sum = loop::MakeLoad(acc, {lane});
      for (int64_t j = 0; j < group; ++j) {
        sum = sum + loop::MakeCast(kI32, byte_at(row, k + lane * Expr(group) + Expr(j))) *
                        loop::MakeCast(kI32, loop::MakeLoad(ones, {Expr(j)}));
      }
      return sum;
    });
  };
  std::vector<Stmt> body = {each(lanes, [&](const Expr&) { return loop::Const(kI32, 0); })};
  int64_t done = 0;
  for (int64_t count = lanes; count >= 1; count /= 2) {
    const int64_t chunk = count * group, chunks = (bytes - done) / chunk;
    if (chunks == 0) continue;
    const Var i = loop::MakeVar("i");
    body.push_back(Nest({{i, chunks}}, ForKind::kSerial, add(Expr(done) + i * Expr(chunk), count)));
    done += chunks * chunk;
  }
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    body.push_back(each(half, [&](const Expr& lane) {
      return loop::MakeLoad(acc, {lane}) + loop::MakeLoad(acc, {lane + Expr(half)});
    }));
  }
  body.push_back(loop::MakeStore(
      sums, {row},
      loop::MakeLoad(acc, {Expr(0)}) * loop::IntConst(loop::Type::Of(kI32), t.dot->shift)));
  return Nest({{row, place.outer_rows * place.rows}}, ForKind::kSerial,
              loop::MakeAllocate(acc, loop::MakeBlock(std::move(body))));
}

// An expression of a contraction's row axes at a row of a tile, counted over all of the tile.
Expr AtTileRow(const TiledContraction& t, const Expr& e, const TilePlace& place, const Expr& row) {
  const Expr rows = place.rows;
  return loop::Substitute(
      e, t.tile.outer_rows > 1 ? AtRow(t, place, row / rows, row % rows) : AtRow(t, place, 0, row));
}

Expr LoadOf(const loop::Load& load) { return loop::MakeLoad(load.buffer, load.index); }

// Whether each row lies in memory element behind element, a multiple of four of them; axes may
// still have the extent 1.
bool HasWholeRows(const Contraction& c) {
  std::vector<Axis> walked = c.reduce;
  std::erase_if(walked, [](const Axis& axis) { return axis.extent == 1; });
  if (walked.size() != 1 || walked[0].extent % kGroup != 0) return false;
  const auto form = FactorForm(c.x, walked);
  return form.has_value() && form->coefficients[0] == 1;
}

// Whether the stack holds the rows of any tile, if they are copied.
bool HoldsRows(const Contraction& c, bool padded, const Target& target) {
  const int64_t row_bytes = DivideUp(TotalExtent(c.reduce), kGroup) * kGroup;
  return target.is_baremetal() || (HasWholeRows(c) && !padded) ||
         row_bytes <= kMaxLocalBytes / MaxAccumulators(target);
}

}  // namespace

bool SuitsByteDot(const loop::Kernel& kernel, size_t which, const Context& context) {
  const Target& target = context.target;
  if (!target.has_byte_dot && !target.is_baremetal()) return false;
  const Stage& stage = kernel.stages[which];
  loop::Bounds bounds;
  AddBounds(stage.axes, bounds);
  const std::optional<Contraction> c =
      AsContraction(stage, FlatIndex(stage.buffer, stage.index, bounds), target);
  if (!c.has_value() || stage.value.type().dtype != kI32 || TotalExtent(c->reduce) < kMinReduce) {
    return false;
  }
  // Without the instruction rows are copied for the sake of the memory that padded data take.
  const bool padded = FindRowPadding(kernel, which).has_value();
  if (!HoldsRows(*c, padded, target) || (!target.has_byte_dot && !padded)) return false;
  const loop::Constant* y = ConstantFactor(c->y, context);
  int64_t base = 0;
  std::vector<Axis> all = stage.axes;
  all.insert(all.end(), stage.reduce.begin(), stage.reduce.end());
  const auto form = FactorForm(c->y, all);
  return IsByte(FactorLoad(c->x)->buffer->dtype) && y != nullptr && y->buffer->dtype.bits <= 16 &&
         form.has_value() && loop::AsInt(form->base, &base) && ColumnShift(y->tensor).has_value();
}

std::optional<size_t> FindRowPadding(const loop::Kernel& kernel, size_t which) {
  const auto* product = kernel.stages[which].value.As<loop::Binary>();
  for (size_t i = 0; i < which; ++i) {
    const Stage& stage = kernel.stages[i];
    const auto* padded = stage.value.As<loop::Select>();
    const bool pads = stage.combine == loop::Combine::kNone && !stage.update && IsIdentity(stage) &&
                      !IsOutput(kernel, stage.buffer) && padded != nullptr &&
                      padded->if_false.As<loop::IntImm>() != nullptr &&
                      padded->if_true.As<loop::Load>() != nullptr;
    if (!pads) continue;
    const bool is_factor = FactorLoad(product->a)->buffer == stage.buffer ||
                           FactorLoad(product->b)->buffer == stage.buffer;
    bool alone = true;
    for (size_t j = 0; j < kernel.stages.size(); ++j) {
      alone &= j == which || !Reads(kernel.stages[j], stage.buffer);
    }
    if (is_factor && alone) return i;
  }
  return std::nullopt;
}

ByteDot MakeByteDot(const Contraction& c, bool padded, const Context& context) {
  const int64_t reduce = TotalExtent(c.reduce);
  const Target& target = context.target;
  const bool by_element = !target.has_byte_dot && target.Lanes(kI32) > 1;
  ByteDot dot{.group = by_element ? 1 : kGroup,
              .steps = 0,
              .shift = *ColumnShift(ConstantFactor(c.y, context)->tensor),
              .flips_rows = target.has_byte_dot && FactorLoad(c.x)->buffer->dtype.is_int(),
              .panel = true};
  dot.steps = DivideUp(reduce, dot.group);
  if (padded || c.reduce.size() != 1 || reduce % dot.group != 0) return dot;
  const auto form = FactorForm(c.x, {c.reduce[0]});
  dot.panel = !form.has_value() || form->coefficients[0] != 1;
  return dot;
}

void UseByteDot(TiledContraction& t, const Stage* padding, Context& context) {
  const ByteDot& dot = *t.dot;
  t.packed = true;
  t.block = loop::MakeVar("block");
  t.column = loop::MakeVar("column");
  t.tile_row = loop::MakeVar("tile_row");
  t.packed_columns = t.tile.columns();
  const PackedBytes packed = PackBytes(t, context);
  const loop::Load& x = *FactorLoad(t.c.x);
  const Expr value = padding == nullptr ? LoadOf(x) : InlineInto(LoadOf(x), *padding);
  const int64_t rows = t.tile.outer_rows * t.tile.rows;
  // Memory for a tile's rows: on the stack, or, where that is small, in the workspace.
  const auto for_rows = [&](const char* suffix, DType dtype, Shape shape) {
    const bool small_stack = context.target.is_baremetal();
    const Buffer buffer =
        loop::MakeBuffer(absl::StrCat(x.buffer->name, suffix), dtype, std::move(shape),
                         small_stack ? loop::BufferScope::kWorkspace : loop::BufferScope::kLocal);
    (small_stack ? context.workspace : t.row_buffers).push_back(buffer);
    return buffer;
  };
  Buffer panel;
  if (dot.panel) {
    panel =
        for_rows("_rows", dot.flips_rows ? kU8 : x.buffer->dtype, {rows, dot.steps * dot.group});
  }

  const Var step = loop::MakeVar("k");
  std::vector<Expr> columns, offset;
  for (const Axis& axis : t.c.batch) columns.push_back(axis.var);
  columns.push_back(t.block);
  offset = columns;
  offset.push_back(t.column);
  columns.insert(columns.end(), {step, Expr(0)});
  t.init = loop::MakeLoad(packed.offsets, offset);
  const auto direct_at = [&t, &x](const Expr& k) {
    return loop::Substitute(LoadOf(x), {{t.c.reduce[0].var.get(), k}});
  };
  t.products.clear();
  for (int64_t j = 0; j < dot.group; ++j) {
    const Expr k = step * Expr(dot.group) + Expr(j);
    columns.back() = t.column * Expr(dot.group) + Expr(j);
    Expr byte;
    if (panel != nullptr) {
      byte = loop::MakeLoad(panel, {t.tile_row, k});
    } else {
      byte = dot.flips_rows ? Flipped(direct_at(k)) : direct_at(k);
    }
    t.products.push_back({.x = loop::MakeCast(kI32, byte),
                          .y = loop::MakeCast(kI32, loop::MakeLoad(packed.columns, columns))});
  }
  t.y = t.products.front().y;

  Buffer sums, ones;
  if (dot.shift != 0) {
    sums = for_rows("_sums", kI32, {rows});
    t.init = t.init + loop::MakeLoad(sums, {t.tile_row});
    // Of the other sign than the rows, as the instruction wants it.
    const DType of_ones = panel == nullptr && dot.flips_rows ? kU8 : kI8;
    ones = loop::MakeBuffer("ones", of_ones, {kGroup}, loop::BufferScope::kConstant);
    context.constants.push_back({ones, Tensor({{kGroup}, of_ones}, std::string(kGroup, 1))});
  }
  const TiledContraction before = t;  // with the reduction as the rows have it
  t.before_rows = [before, value, panel, sums, ones](const TilePlace& place) {
    std::vector<Stmt> stmts;
    if (panel != nullptr) stmts.push_back(FillPanel(before, value, panel, place));
    if (sums != nullptr) {
      stmts.push_back(SumRows(
          before, sums, ones,
          [&](const Expr& row, const Expr& k) {
            if (panel != nullptr) return loop::MakeLoad(panel, {row, k});
            return AtTileRow(before, loop::Substitute(value, {{before.c.reduce[0].var.get(), k}}),
                             place, row);
          },
          place));
    }
    return loop::MakeBlock(std::move(stmts));
  };
  t.c.reduce = {{step, dot.steps}};
}

}  // namespace kiln::schedule
