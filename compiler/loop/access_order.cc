// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/access_order.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// An index that is not linear is evaluated by folding its expression. One fold takes about as much
// time as this many accesses.
constexpr int64_t kAccessesPerFold = 64;

class Follower {
 public:
  Follower(const Func& func, const Buffer& read, const Buffer& written, int64_t max_accesses)
      : read_(read), written_(written), accesses_left_(max_accesses) {
    order_.last_read.assign(static_cast<size_t>(read->num_elements()), AccessOrder::kNeverRead);
    order_.first_write.assign(static_cast<size_t>(written->num_elements()),
                              AccessOrder::kNeverWritten);
    VisitStmt(func.body, nullptr, [&](const Stmt& s) {
      const auto* loop = s.As<For>();
      if (loop != nullptr && slots_.try_emplace(loop->var.get(), vars_.size()).second) {
        vars_.push_back(loop->var);
      }
    });
    values_.resize(vars_.size());
  }

  std::optional<AccessOrder> Run(const Stmt& body) && {
    return Follow(body) ? std::optional<AccessOrder>(std::move(order_)) : std::nullopt;
  }

 private:
  // A scalar integer. If it is linear, its value is base + the sum of coefficient * value over
  // `terms`, whose first field is the slot of a variable. Otherwise `expr` is folded.
  struct Index {
    Expr expr;
    bool linear = false;
    int64_t base = 0;
    std::vector<std::pair<size_t, int64_t>> terms;
  };
  // The elements first, first + stride, … of `read_` or `written_`, `lanes` in number.
  struct Access {
    Index first;
    int64_t stride = 1;
    int lanes = 1;
  };
  struct Accesses {
    bool known = true;
    std::vector<Access> reads;
    std::optional<Access> write;
  };

  Index IndexOf(const Expr& e) const {
    LinearForm form;
    Index index{.expr = e};
    if (!AsLinear(e, vars_, &form) || !AsInt(form.base, &index.base)) return index;
    index.linear = true;
    for (size_t v = 0; v < vars_.size(); ++v) {
      if (form.coefficients[v] != 0) index.terms.emplace_back(v, form.coefficients[v]);
    }
    return index;
  }

  std::optional<Access> AccessOf(const std::vector<Expr>& index) const {
    if (index.size() != 1) return std::nullopt;
    const int lanes = index[0].type().lanes;
    const auto* ramp = index[0].As<Ramp>();
    if (ramp != nullptr) return Access{IndexOf(ramp->base), ramp->stride, lanes};
    return lanes == 1 ? std::optional<Access>(Access{IndexOf(index[0])}) : std::nullopt;
  }

  const Accesses& AccessesOf(const Stmt& s, const Store& store) {
    const auto [it, is_new] = accesses_.try_emplace(s.get());
    Accesses& all = it->second;
    if (!is_new) return all;
    VisitExpr(store.value, [&](const Expr& e) {
      const auto* load = e.As<Load>();
      if (load != nullptr && load->buffer == written_) all.known = false;
      if (load == nullptr || load->buffer != read_) return;
      const std::optional<Access> access = AccessOf(load->index);
      all.known = all.known && access.has_value();
      if (access.has_value()) all.reads.push_back(*access);
    });
    if (store.buffer == written_) {
      all.write = AccessOf(store.index);
      all.known = all.known && all.write.has_value();
    }
    return all;
  }

  std::optional<int64_t> Evaluate(const Index& index) {
    if (index.linear) {
      int64_t value = index.base;
      for (const auto& [slot, coefficient] : index.terms) value += coefficient * values_[slot];
      return value;
    }
    accesses_left_ -= kAccessesPerFold;
    Substitution at;
    for (const ExprNode* var : VarsOf(index.expr)) {
      if (const auto it = slots_.find(var); it != slots_.end()) at[var] = Expr(values_[it->second]);
    }
    int64_t value = 0;
    if (!AsInt(Substitute(index.expr, at), &value)) return std::nullopt;
    return value;
  }

  std::optional<int64_t> Evaluate(const Expr& e) {
    const auto [it, is_new] = indices_.try_emplace(e.get());
    if (is_new) it->second = IndexOf(e);
    return Evaluate(it->second);
  }

  // Calls f for the elements in order. Returns false if one is unknown or outside of the buffer, or
  // if no accesses are left.
  template <typename F>
  bool ForElements(const Access& access, const Buffer& buffer, const F& f) {
    const std::optional<int64_t> first = Evaluate(access.first);
    accesses_left_ -= access.lanes;
    if (!first.has_value() || accesses_left_ < 0) return false;
    for (int lane = 0; lane < access.lanes; ++lane) {
      const int64_t element = *first + lane * access.stride;
      if (element < 0 || element >= buffer->num_elements()) return false;
      f(static_cast<size_t>(element));
    }
    return true;
  }

  bool Follow(const Stmt& s) {
    if (!s) return true;
    if (const auto* block = s.As<Block>()) {
      return std::all_of(block->stmts.begin(), block->stmts.end(),
                         [&](const Stmt& part) { return Follow(part); });
    }
    if (const auto* loop = s.As<For>()) return FollowLoop(*loop);
    if (const auto* store = s.As<Store>()) return FollowStore(AccessesOf(s, *store));
    if (const auto* allocate = s.As<Allocate>()) return Follow(allocate->body);
    if (const auto* branch = s.As<If>()) {
      const std::optional<int64_t> condition = Evaluate(branch->condition);
      return condition.has_value() &&
             Follow(*condition != 0 ? branch->then_body : branch->else_body);
    }
    return s.As<Prefetch>() != nullptr;
  }

  bool FollowLoop(const For& loop) {
    const std::optional<int64_t> begin = Evaluate(loop.begin), extent = Evaluate(loop.extent);
    if (!begin.has_value() || !extent.has_value()) return false;
    const bool at_once = loop.kind == ForKind::kParallel || loop.kind == ForKind::kVectorized;
    return InOrder(at_once, [&] {
      int64_t& value = values_[slots_.at(loop.var.get())];
      for (int64_t i = 0; i < *extent; ++i) {
        value = *begin + i;
        if (--accesses_left_ < 0 || !Follow(loop.body)) return false;
      }
      return true;
    });
  }

  bool FollowStore(const Accesses& all) {
    if (!all.known) return false;
    if (all.reads.empty() && !all.write.has_value()) return true;
    // Code generators may store some lanes before they load others.
    const bool is_vector = all.write.has_value() && all.write->lanes > 1;
    return InOrder(is_vector, [&] {
      if (!at_once_) ++now_;
      const auto read = [&](size_t element) { order_.last_read[element] = now_ + at_once_; };
      const auto write = [&](size_t element) {
        order_.first_write[element] = std::min(order_.first_write[element], now_);
      };
      return std::all_of(all.reads.begin(), all.reads.end(),
                         [&](const Access& a) { return ForElements(a, read_, read); }) &&
             (!all.write.has_value() || ForElements(*all.write, written_, write));
    });
  }

  // Runs f. If `at_once`, all writes of f count as earlier than all of its reads.
  template <typename F>
  bool InOrder(bool at_once, const F& f) {
    if (!at_once || at_once_ == 1) return f();
    ++now_;
    at_once_ = 1;
    const bool is_known = f();
    at_once_ = 0;
    ++now_;
    return is_known;
  }

  const Buffer& read_;
  const Buffer& written_;
  std::vector<Var> vars_;  // loop variables, indexed by slot
  std::unordered_map<const ExprNode*, size_t> slots_;
  std::vector<int64_t> values_;
  std::unordered_map<const StmtNode*, Accesses> accesses_;
  std::unordered_map<const ExprNode*, Index> indices_;
  int64_t accesses_left_;
  int64_t now_ = 0;
  int64_t at_once_ = 0;  // 1 while all accesses count as simultaneous
  AccessOrder order_;
};

}  // namespace

std::optional<AccessOrder> FollowAccesses(const Func& func, const Buffer& read,
                                          const Buffer& written, int64_t max_accesses) {
  return Follower(func, read, written, max_accesses).Run(func.body);
}

}  // namespace kiln::loop
