// SPDX-License-Identifier: Apache-2.0
// Constants of columns: constants that epilogues add to every sum (bias, corrections of zero
// points), and others that they load for each column.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/schedule/dot_parts.h"

namespace kiln::schedule {
namespace {

bool IsSums(const Expr& e, const Buffer& sums) {
  const auto* load = e.As<loop::Load>();
  return load != nullptr && load->buffer == sums;
}

// An addition to the sums in an epilogue: sums + b, b + sums, or sums - b.
struct Term {
  Expr node, b;
  bool negative;
};

std::optional<Term> AsTerm(const Expr& e, const Buffer& sums) {
  const auto* binary = e.As<loop::Binary>();
  if (binary == nullptr || e.type() != loop::Type::Of(kI32)) return std::nullopt;
  const bool adds = binary->op == loop::BinaryOp::kAdd;
  if (adds && IsSums(binary->b, sums)) return Term{e, binary->a, false};
  if ((adds || binary->op == loop::BinaryOp::kSub) && IsSums(binary->a, sums)) {
    return Term{e, binary->b, !adds};
  }
  return std::nullopt;
}

bool ReadsSums(const Expr& e, const Buffer& sums) {
  bool reads = false;
  loop::VisitExpr(e, [&](const Expr& node) { reads |= IsSums(node, sums); });
  return reads;
}

// Returns the terms of all epilogues. The result is empty if the terms differ, or if an epilogue
// reads sums outside of such a term.
std::vector<Term> SharedTerms(const TiledContraction& t) {
  std::vector<Term> terms;
  loop::Substitution hidden;
  for (const Epilogue& epilogue : t.epilogues) {
    loop::VisitExpr(epilogue.value, [&](const Expr& e) {
      std::optional<Term> term = AsTerm(e, t.sums);
      if (!term.has_value()) return;
      hidden[e.get()] = loop::IntConst(e.type(), 0);
      terms.push_back(*std::move(term));
    });
  }
  for (const Term& term : terms) {
    const bool alike =
        term.negative == terms[0].negative && loop::ToString(term.b) == loop::ToString(terms[0].b);
    if (!alike) return {};
  }
  for (const Epilogue& epilogue : t.epilogues) {
    if (ReadsSums(loop::Substitute(epilogue.value, hidden), t.sums)) return {};
  }
  return terms;
}

// Returns the values of `b` for every element of the batch and every column, in that order. Returns
// nothing if `b` is not a constant that depends only on these.
std::optional<std::vector<int32_t>> ColumnValues(const TiledContraction& t, const Expr& b,
                                                 const Context& context) {
  std::vector<Axis> axes = t.c.batch;
  axes.push_back(t.c.column);
  const auto places = static_cast<size_t>(TotalExtent(axes));
  int64_t constant = 0, base = 0;
  if (loop::AsInt(b, &constant)) {
    return std::vector<int32_t>(places, static_cast<int32_t>(constant));
  }
  const auto* load = b.As<loop::Load>();
  const loop::Constant* source = load == nullptr ? nullptr : FindConstant(context, load->buffer);
  if (source == nullptr || load->buffer->dtype != kI32) return std::nullopt;
  const auto form = FactorForm(b, axes);
  if (!form.has_value() || !loop::AsInt(form->base, &base)) return std::nullopt;
  std::vector<int32_t> values;
  ForEachIndex(axes, [&](const std::vector<int64_t>& index) {
    const int64_t at = base + Dot(index, form->coefficients.data());
    values.push_back(static_cast<int32_t>(source->tensor.AsInt(at)));
  });
  return values;
}

// A load of an epilogue, and its values for all columns.
struct ColumnLoad {
  Expr load;
  std::vector<int32_t> values;
};

// Returns the element of `loads` that reads the same as `e`, or null.
const ColumnLoad* Find(const std::vector<ColumnLoad>& loads, const Expr& e) {
  const auto* load = e.As<loop::Load>();
  if (load == nullptr) return nullptr;
  for (const ColumnLoad& known : loads) {
    if (known.load.As<loop::Load>()->buffer == load->buffer &&
        loop::ToString(known.load) == loop::ToString(e)) {
      return &known;
    }
  }
  return nullptr;
}

// Returns the distinct loads of constants that depend only on the column, in the order of the
// epilogues.
std::vector<ColumnLoad> ColumnLoads(const TiledContraction& t, const Context& context) {
  std::vector<ColumnLoad> loads;
  for (const Epilogue& epilogue : t.epilogues) {
    loop::VisitExpr(epilogue.value, [&](const Expr& e) {
      if (e.As<loop::Load>() == nullptr || Find(loads, e) != nullptr) return;
      if (auto values = ColumnValues(t, e, context)) loads.push_back({e, *std::move(values)});
    });
  }
  return loads;
}

}  // namespace

void UseColumnConstants(TiledContraction& t, const std::vector<int32_t>& offsets,
                        const std::string& name, Context& context) {
  std::vector<ColumnLoad> loads;
  if (t.dot->loop != nullptr && t.c.batch.empty()) loads = ColumnLoads(t, context);
  if (offsets.empty() && loads.empty()) return;
  // [which][column], with columns of whole blocks.
  const int64_t width = t.plan.tile.columns(), blocks = DivideUp(t.c.column.extent, width);
  std::vector<std::vector<int32_t>> all;
  if (!offsets.empty()) all.push_back(offsets);
  for (const ColumnLoad& load : loads) {
    all.push_back(load.values);
    all.back().resize(static_cast<size_t>(blocks * width), 0);
  }
  Shape shape;
  std::vector<Expr> index;
  for (const Axis& axis : t.c.batch) {
    shape.push_back(axis.extent);
    index.push_back(axis.var);
  }
  const auto kinds = static_cast<int64_t>(all.size());
  shape.insert(shape.end(), {blocks, kinds * width});
  const Buffer buffer =
      loop::MakeBuffer(absl::StrCat(name, "_offsets"), kI32, shape, loop::BufferScope::kConstant);
  std::vector<int32_t> values;
  for (size_t begin = 0; begin < all[0].size(); begin += static_cast<size_t>(width)) {
    for (const std::vector<int32_t>& kind : all) {
      const auto first = kind.begin() + static_cast<std::ptrdiff_t>(begin);
      values.insert(values.end(), first, first + width);
    }
  }
  context.constants.push_back({buffer, Tensor::From<int32_t>(shape, kI32, values)});
  index.push_back(t.block);
  const auto load_of = [&](int64_t kind) {
    std::vector<Expr> at = index;
    at.push_back(Expr(kind * width) + t.column);
    return loop::MakeLoad(buffer, std::move(at));
  };
  if (!offsets.empty()) t.init = load_of(0);
  for (Epilogue& epilogue : t.epilogues) {
    epilogue.value = loop::MutateExpr(epilogue.value, [&](const Expr& e) {
      const ColumnLoad* found = Find(loads, e);
      if (found == nullptr) return Expr();
      return load_of(found - loads.data() + (offsets.empty() ? 0 : 1));
    });
  }
}

std::vector<int32_t> TakeColumnConstants(TiledContraction& t, const Context& context) {
  std::vector<int32_t> total;
  while (true) {
    const std::vector<Term> terms = SharedTerms(t);
    if (terms.empty()) return total;
    const auto values = ColumnValues(t, terms[0].b, context);
    if (!values.has_value()) return total;
    total.resize(values->size());
    for (size_t i = 0; i < total.size(); ++i) {
      const auto value = static_cast<uint32_t>((*values)[i]);
      const auto sum = static_cast<uint32_t>(total[i]);
      total[i] = static_cast<int32_t>(terms[0].negative ? sum - value : sum + value);
    }
    loop::Substitution without;
    for (const Term& term : terms) {
      const auto* binary = term.node.As<loop::Binary>();
      without[term.node.get()] = IsSums(binary->a, t.sums) ? binary->a : binary->b;
    }
    for (Epilogue& epilogue : t.epilogues) {
      epilogue.value = loop::Substitute(epilogue.value, without);
    }
  }
}

}  // namespace kiln::schedule
