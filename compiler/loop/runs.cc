// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/runs.h"

#include <optional>
#include <vector>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// Returns the index of the first iteration if the loop steps through the elements one by one,
// otherwise nothing.
std::optional<Expr> FirstOfRun(const For& loop, const std::vector<Expr>& index) {
  LinearForm form;
  if (index.size() != 1 || !AsLinear(index[0], {loop.var}, &form) || form.coefficients[0] != 1) {
    return std::nullopt;
  }
  return Substitute(index[0], {{loop.var.get(), loop.begin}});
}

}  // namespace

std::optional<CopyLoop> AsCopy(const For& loop) {
  const auto* store = loop.body.As<Store>();
  const auto* load = store == nullptr ? nullptr : store->value.As<Load>();
  int64_t elements;
  if (load == nullptr || load->buffer == store->buffer ||
      load->buffer->dtype != store->buffer->dtype || load->buffer->dtype.is_bool() ||
      !AsInt(loop.extent, &elements)) {
    return std::nullopt;
  }
  const std::optional<Expr> to = FirstOfRun(loop, store->index),
                            from = FirstOfRun(loop, load->index);
  if (!to.has_value() || !from.has_value()) return std::nullopt;
  return CopyLoop{store->buffer, load->buffer, *to, *from, elements};
}

bool IsFill(const For& loop) {
  const auto* store = loop.body.As<Store>();
  return store != nullptr && FirstOfRun(loop, store->index).has_value() &&
         !Uses(store->value, loop.var);
}

bool GoesOn(const For& outer, const For& inner, int64_t inner_extent, const Store& store) {
  const auto is_joint = [&](const Expr& index) {
    LinearForm form;
    return AsLinear(index, {outer.var, inner.var}, &form) &&
           form.coefficients[0] == inner_extent * form.coefficients[1];
  };
  bool result = store.index.size() == 1 && is_joint(store.index[0]);
  const Expr in_loads = MakeVar("index");
  const Expr rest = MutateExpr(store.value, [&](const Expr& e) {
    const auto* load = e.As<Load>();
    if (load == nullptr) return Expr();
    result &= load->index.size() == 1 && is_joint(load->index[0]);
    return MakeLoad(load->buffer, {in_loads});
  });
  return result && !Uses(rest, outer.var) && !Uses(rest, inner.var);
}

}  // namespace kiln::loop
