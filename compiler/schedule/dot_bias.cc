// SPDX-License-Identifier: Apache-2.0
// Constants that epilogues add to every sum of a column: bias and corrections of zero points.
#include <algorithm>
#include <utility>

#include "compiler/schedule/dot_parts.h"

namespace kiln::schedule {
namespace {

const DType kI32 = DType::Int(32);

bool IsSums(const Expr& e, const Buffer& sums) {
  const auto* load = e.As<loop::Load>();
  return load != nullptr && load->buffer == sums;
}

// sums + b or b + sums, and sums - b.
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

// The terms of all epilogues, if they add one and the same to sums wherever these are read.
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

// What `b` is for every place of the batch and every column, in that order; nothing if it is not a
// constant of these alone.
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

}  // namespace

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
