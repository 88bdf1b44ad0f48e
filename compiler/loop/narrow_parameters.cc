// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/narrow_parameters.h"

#include <map>
#include <optional>
#include <utility>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/range.h"

namespace kiln::loop {
namespace {

// Ranges of the variables of loops; unbounded if the bounds of a loop are not constant.
class LoopRanges {
 public:
  explicit LoopRanges(const Stmt& body) {
    VisitStmt(body, nullptr, [&](const Stmt& s) {
      const auto* n = s.As<For>();
      if (n == nullptr) return;
      int64_t begin = 0, extent = 0;
      const bool known = AsInt(n->begin, &begin) && AsInt(n->extent, &extent) && extent > 0;
      const Range range = known ? Range{begin, begin + extent - 1} : Range{};
      const auto [it, is_new] = ranges_.try_emplace(n->var.get(), range);
      if (is_new) {
        vars_.push_back(n->var);
      } else {
        it->second = Union(it->second, range);
      }
    });
  }

  // Range of an index, over all its lanes.
  Range Of(const Expr& index) const {
    const auto* ramp = index.As<Ramp>();
    LinearForm form;
    int64_t base = 0;
    if (!AsLinear(ramp != nullptr ? ramp->base : index, vars_, &form) || !AsInt(form.base, &base)) {
      return {};
    }
    Range range = Range::Point(base);
    for (size_t i = 0; i < vars_.size(); ++i) {
      if (form.coefficients[i] == 0) continue;
      range = Add(range, Multiply(Range::Point(form.coefficients[i]), ranges_.at(vars_[i].get())));
    }
    if (ramp == nullptr) return range;
    return Add(range, Multiply(Range::Point(ramp->stride), {0, ramp->lanes - 1}));
  }

 private:
  std::map<const ExprNode*, Range> ranges_;
  std::vector<Var> vars_;
};

using Accessed = std::map<const BufferNode*, Range>;

Accessed FindAccessed(const Stmt& body) {
  const LoopRanges loops(body);
  Accessed accessed;
  const auto see = [&](const Buffer& buffer, const Expr& index) {
    if (buffer->scope != BufferScope::kParam) return;
    const Range range = loops.Of(index);
    const auto [it, is_new] = accessed.try_emplace(buffer.get(), range);
    if (!is_new) it->second = Union(it->second, range);
  };
  VisitStmt(
      body,
      [&](const Expr& e) {
        if (const auto* load = e.As<Load>()) see(load->buffer, load->index[0]);
      },
      [&](const Stmt& s) {
        if (const auto* store = s.As<Store>()) see(store->buffer, store->index[0]);
        // A prefetched element may lie anywhere.
        if (const auto* prefetch = s.As<Prefetch>()) accessed[prefetch->buffer.get()] = {};
      });
  return accessed;
}

// Returns the index counted from element `first`.
Expr From(const Expr& index, int64_t first) {
  if (first == 0) return index;
  const auto* ramp = index.As<Ramp>();
  if (ramp != nullptr) return MakeRamp(From(ramp->base, first), ramp->stride, ramp->lanes);
  return Simplify(index - Expr(first));
}

}  // namespace

NarrowedFunc NarrowParameters(const Func& func) {
  const Accessed accessed = FindAccessed(func.body);
  NarrowedFunc narrowed = {func, std::vector<int64_t>(func.params.size(), 0)};
  std::map<const BufferNode*, int64_t> first_of;
  BufferReplacement buffers;
  for (size_t i = 0; i < func.params.size(); ++i) {
    const Buffer& param = func.params[i];
    const auto found = accessed.find(param.get());
    if (found == accessed.end() || param->alignment_bytes != 0) continue;
    const Range& range = found->second;
    if (!range.within({0, param->num_elements() - 1})) continue;
    narrowed.first[i] = range.lo;
    first_of[param.get()] = range.lo;
    narrowed.func.params[i] =
        MakeBuffer(param->name, param->dtype, {range.hi - range.lo + 1}, BufferScope::kParam);
    buffers[param.get()] = narrowed.func.params[i];
  }
  const auto moved = [&](const Buffer& buffer, const Expr& index) -> Expr {
    const auto found = first_of.find(buffer.get());
    return found == first_of.end() ? Expr() : From(index, found->second);
  };
  const Stmt loads = MutateExprs(func.body, [&](const Expr& e) -> Expr {
    const auto* load = e.As<Load>();
    if (load == nullptr) return {};
    const Expr index = moved(load->buffer, load->index[0]);
    return index.get() == nullptr ? Expr() : MakeLoad(load->buffer, {index});
  });
  const Stmt stores = MutateStmt(loads, [&](const Stmt& s) {
    const auto* store = s.As<Store>();
    if (store == nullptr) return s;
    const Expr index = moved(store->buffer, store->index[0]);
    return index.get() == nullptr ? s : MakeStore(store->buffer, {index}, store->value);
  });
  narrowed.func.body = ReplaceBuffers(stores, buffers);
  return narrowed;
}

}  // namespace kiln::loop
