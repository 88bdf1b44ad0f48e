// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/dot_tile.h"

#include <vector>

namespace kiln::loop {
namespace {

// The first of neighbouring elements of a flat buffer; nothing if an index says otherwise.
std::optional<Argument> FirstOf(const Buffer& buffer, const std::vector<Expr>& index) {
  if (index.size() != 1 || buffer->whole != nullptr) return std::nullopt;
  const auto* ramp = index[0].As<Ramp>();
  if (ramp == nullptr || ramp->stride != 1) return std::nullopt;
  return Argument{buffer, ramp->base};
}

std::optional<Argument> FirstOf(const Expr& e) {
  const auto* load = e.As<Load>();
  return load == nullptr ? std::nullopt : FirstOf(load->buffer, load->index);
}

Expr Neighbours(const Argument& first, int lanes) {
  return MakeLoad(first.buffer, {MakeRamp(first.offset, 1, lanes)});
}

bool IsSame(const Expr& a, const Expr& b) {
  int64_t x = 0, y = 0;
  return a.get() == b.get() || (AsInt(a, &x) && AsInt(b, &y) && x == y);
}

}  // namespace

std::optional<DotTile> AsDotTile(const Store& store) {
  const auto* dot = store.value.As<Dot>();
  if (dot == nullptr || dot->kind.steps == 1) return std::nullopt;
  const auto stored = FirstOf(store.buffer, store.index), sums = FirstOf(dot->sum);
  const auto a = FirstOf(dot->a), b = FirstOf(dot->b);
  if (!stored.has_value() || !sums.has_value() || !a.has_value() || !b.has_value() ||
      stored->buffer != sums->buffer || !IsSame(stored->offset, sums->offset)) {
    return std::nullopt;
  }
  return DotTile{.kind = dot->kind,
                 .shape = *DotShape::Of(store.value.type().lanes, dot->a.type().lanes,
                                        dot->b.type().lanes, dot->kind),
                 .sums = *sums,
                 .a = *a,
                 .b = *b};
}

Stmt MakeDotTile(const DotKind& kind, int rows, int columns, const Argument& sums,
                 const Argument& a, const Argument& b) {
  const int terms = kind.steps * kind.group, lanes = rows * columns;
  const Expr dot = MakeDot(kind, Neighbours(sums, lanes), Neighbours(a, rows * terms),
                           Neighbours(b, columns * terms));
  return MakeStore(sums.buffer, {MakeRamp(sums.offset, 1, lanes)}, dot);
}

}  // namespace kiln::loop
