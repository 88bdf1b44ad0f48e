// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/widen.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

class Widener {
 public:
  Widener(const Stmt& s, const Var& lane, int lanes, Simplifier& simplifier)
      : lane_(lane), lanes_(lanes), simplifier_(simplifier) {
    VisitStmt(s, nullptr, [this](const Stmt& stmt) {
      if (const auto* n = stmt.As<Store>()) stored_.insert(n->buffer.get());
      if (const auto* n = stmt.As<Allocate>()) {
        Shape shape = {n->buffer->num_elements() * lanes_};
        own_.emplace(n->buffer.get(),
                     MakeBuffer(n->buffer->name, n->buffer->dtype, std::move(shape),
                                n->buffer->scope, n->buffer->alignment_bytes));
      }
    });
  }

  std::optional<Stmt> Visit(const Stmt& s) {
    if (!s) return s;
    if (const auto* n = s.As<Store>()) return VisitStore(*n);
    if (const auto* n = s.As<Prefetch>()) return VisitPrefetch(*n);
    if (const auto* n = s.As<For>()) return VisitFor(*n);
    if (const auto* n = s.As<Block>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& stmt : n->stmts) {
        std::optional<Stmt> widened = Visit(stmt);
        if (!widened) return std::nullopt;
        stmts.push_back(*std::move(widened));
      }
      return MakeBlock(std::move(stmts));
    }
    if (const auto* n = s.As<If>()) {
      const Expr condition = Value(n->condition);
      std::optional<Stmt> then_body = Visit(n->then_body);
      std::optional<Stmt> else_body = Visit(n->else_body);
      if (condition.get() == nullptr || condition.type().is_vector() || !then_body || !else_body) {
        return std::nullopt;
      }
      return MakeIf(condition, *std::move(then_body), *std::move(else_body));
    }
    if (const auto* n = s.As<Allocate>()) {
      std::optional<Stmt> body = Visit(n->body);
      if (!body || n->buffer->scope != BufferScope::kLocal) return std::nullopt;
      return MakeAllocate(own_.at(n->buffer.get()), *std::move(body));
    }
    return std::nullopt;
  }

 private:
  std::optional<Stmt> VisitFor(const For& loop) {
    const Expr begin = Value(loop.begin);
    const Expr extent = Value(loop.extent);
    if (begin.get() == nullptr || extent.get() == nullptr || begin.type().is_vector() ||
        extent.type().is_vector()) {
      return std::nullopt;
    }
    simplifier_.BindLoop(loop);
    std::optional<Stmt> body = Visit(loop.body);
    simplifier_.Unbind(loop.var);
    if (!body) return std::nullopt;
    return MakeFor(loop.var, begin, extent, loop.kind, *std::move(body));
  }

  // Returns one prefetch for all lanes if the offset is the same in all.
  std::optional<Stmt> VisitPrefetch(const Prefetch& prefetch) {
    const Expr offset = Value(prefetch.offset);
    if (offset.get() == nullptr || offset.type().is_vector() ||
        own_.contains(prefetch.buffer.get())) {
      return std::nullopt;
    }
    return MakePrefetch(prefetch.buffer, offset, prefetch.level);
  }

  std::optional<Stmt> VisitStore(const Store& store) {
    if (store.index.size() != 1) return std::nullopt;
    auto [buffer, index] = Access(store.buffer, store.index[0]);
    Expr value = Value(store.value);
    if (index.get() == nullptr || value.get() == nullptr) return std::nullopt;
    // All lanes store to one place. This is harmless if they store the same value, and the value
    // does not depend on buffers that the loop changes.
    if (!index.type().is_vector() && (value.type().is_vector() || LoadsStored(store.value))) {
      return std::nullopt;
    }
    return MakeStore(std::move(buffer), {std::move(index)}, std::move(value));
  }

  bool LoadsStored(const Expr& e) {
    bool found = false;
    VisitExpr(e, [&](const Expr& node) {
      const auto* load = node.As<Load>();
      found = found || (load != nullptr && stored_.contains(load->buffer.get()));
    });
    return found;
  }

  // Returns the buffer and index that the lanes use for element `index` of a buffer.
  std::pair<Buffer, Expr> Access(const Buffer& buffer, const Expr& index) {
    auto it = own_.find(buffer.get());
    if (it == own_.end()) return {buffer, Value(index)};
    return {it->second, Value(simplifier_.Simplify(index * Expr(lanes_) + lane_))};
  }

  // Returns the value in all lanes, or a scalar if it is the same in all of them. Returns an empty
  // expression if the value cannot be widened.
  Expr Value(const Expr& e) {
    if (auto it = widened_.find(e.get()); it != widened_.end()) return it->second.second;
    if (recursion_ == kMaxRecursion) {
      // Visits operands first. After that Value does not recurse, however deep the expression is.
      recursion_ = 0;
      VisitExpr(e, [this](const Expr& node) { Value(node); });
      recursion_ = kMaxRecursion;
      return Value(e);
    }
    ++recursion_;
    Expr result = e.type().is_vector() ? Expr() : WidenNode(e);
    --recursion_;
    widened_.emplace(e.get(), std::pair(e, result));
    return result;
  }

  // Properties of the operands of a node, which Operand collects: one differs by lane, or cannot be
  // widened.
  struct Operands {
    bool varies = false;
    bool failed = false;
  };
  Expr Operand(const Expr& e, Operands* operands) {
    Expr result = Value(e);
    const bool failed = result.get() == nullptr;
    operands->failed |= failed;
    operands->varies |= !failed && result.type().is_vector();
    return result;
  }

  Expr WidenNode(const Expr& e) {
    if (e.get() == lane_.get()) return MakeRamp(Expr(0), 1, lanes_);
    if (e.type() == Type::Index()) {
      if (Expr ramp = AsRamp(e)) return ramp;
    }
    if (const auto* dot = e.As<Dot>()) return WidenDot(e, *dot);
    if (const auto* load = e.As<Load>()) {
      if (load->index.size() != 1) return {};
      auto [buffer, index] = Access(load->buffer, load->index[0]);
      if (index.get() == nullptr) return {};
      if (!index.type().is_vector() && buffer == load->buffer) return e;
      return MakeLoad(std::move(buffer), {std::move(index)});
    }
    Operands operands;
    std::vector<Expr> in;
    ForEachOperand(*e, [&](const Expr& operand) { in.push_back(Operand(operand, &operands)); });
    if (operands.failed) return {};
    if (!operands.varies) return e;
    const Type type = e.type().WithLanes(lanes_);
    if (const auto* n = e.As<Unary>()) return MakeUnary(n->op, in[0]);
    if (const auto* n = e.As<Binary>()) return MakeBinary(n->op, in[0], in[1]);
    if (e.As<Fma>() != nullptr) return MakeFma(in[0], in[1], in[2]);
    if (const auto* n = e.As<Compare>()) return MakeCompare(n->op, in[0], in[1]);
    if (e.As<loop::Select>() != nullptr) return MakeSelect(in[0], in[1], in[2]);
    if (e.As<Cast>() != nullptr) return MakeCast(type, in[0]);
    if (e.As<Bitcast>() != nullptr) return MakeBitcast(type.dtype, in[0]);
    return {};
  }

  // Returns the sums of all lanes. A factor that is the same in all of them stays one group, which
  // is multiplied by every group of the other factor. Groups that differ by lane are concatenated.
  Expr WidenDot(const Expr& e, const Dot& dot) {
    const Expr sum = Value(dot.sum), a = Groups(dot.a, dot.kind.group),
               b = Groups(dot.b, dot.kind.group);
    if (a.get() == nullptr || b.get() == nullptr) return WidenRowsByColumns(dot);
    if (sum.get() == nullptr) return {};
    const bool varies = Varies(dot.a) || Varies(dot.b);
    if (!varies && !sum.type().is_vector()) return e;
    // The sums differ by lane, but their products do not.
    if (!varies) return {};
    return MakeDot(dot.kind, WithLanes(sum, lanes_), a, b);
  }

  // Returns the sums if the lanes are rows × C columns: lane l multiplies group l / C of `a` by
  // group l % C of `b`, and the groups of a factor are contiguous. Returns an empty expression
  // otherwise.
  Expr WidenRowsByColumns(const Dot& dot) {
    const std::optional<GroupPlaces> a = PlacesOf(dot.a, dot.kind.group),
                                     b = PlacesOf(dot.b, dot.kind.group);
    if (!a.has_value() || !b.has_value()) return {};
    int columns = 1;
    while (columns < lanes_ && a->places[static_cast<size_t>(columns)] == 0) ++columns;
    for (int lane = 0; lane < lanes_; ++lane) {
      const auto l = static_cast<size_t>(lane);
      if (a->places[l] != lane / columns || b->places[l] != lane % columns) return {};
    }
    const Expr sum = Value(dot.sum);
    if (sum.get() == nullptr || lanes_ % columns != 0) return {};
    const int group = dot.kind.group;
    const auto load = [&](const GroupPlaces& factor, int count) {
      return MakeLoad(factor.buffer, {MakeRamp(factor.first, 1, count * group)});
    };
    return MakeDot(dot.kind, WithLanes(sum, lanes_), load(*a, lanes_ / columns), load(*b, columns));
  }

  // Number of the group of memory that each lane loads, relative to that of the first lane.
  struct GroupPlaces {
    Buffer buffer;
    Expr first;
    std::vector<int64_t> places;
  };
  std::optional<GroupPlaces> PlacesOf(const Expr& e, int group) {
    const auto* load = e.As<Load>();
    if (load == nullptr || load->index.size() != 1 || own_.contains(load->buffer.get())) {
      return std::nullopt;
    }
    const auto* ramp = load->index[0].As<Ramp>();
    if (ramp == nullptr || ramp->stride != 1 || ramp->lanes != group) return std::nullopt;
    const auto at = [&](int lane) { return Substitute(ramp->base, {{lane_.get(), Expr(lane)}}); };
    GroupPlaces result{load->buffer, simplifier_.Simplify(at(0)), {}};
    for (int lane = 0; lane < lanes_; ++lane) {
      int64_t apart = 0;
      if (!AsInt(simplifier_.Simplify(at(lane) - at(0)), &apart) || apart % group != 0) {
        return std::nullopt;
      }
      result.places.push_back(apart / group);
    }
    return result;
  }

  // Returns one group of a factor in all lanes, or the group itself if it does not differ by lane.
  // Returns an empty expression if it cannot be widened.
  Expr Groups(const Expr& e, int group) {
    if (e.type().lanes != group) return {};
    if (!Varies(e)) return e;
    if (const auto* interleave = e.As<Interleave>()) {
      std::vector<Expr> lanes;
      for (const Expr& operand : interleave->operands) {
        const Expr widened = Value(operand);
        if (widened.get() == nullptr) return {};
        lanes.push_back(WithLanes(widened, lanes_));
      }
      return MakeInterleave(std::move(lanes));
    }
    if (const auto* cast = e.As<Cast>()) {
      const Expr a = Groups(cast->a, group);
      if (a.get() == nullptr) return {};
      return MakeCast(e.type().WithLanes(a.type().lanes), a);
    }
    if (const auto* binary = e.As<Binary>(); binary != nullptr && IsConstant(binary->b)) {
      Scalar value;
      const Expr a = Groups(binary->a, group);
      const auto* constant = binary->b.As<Broadcast>();
      const Expr& scalar = constant == nullptr ? binary->b : constant->a;
      if (a.get() == nullptr || !AsScalar(scalar, &value)) return {};
      return MakeBinary(binary->op, a, FromScalar(a.type(), value));
    }
    const auto* load = e.As<Load>();
    if (load == nullptr || load->index.size() != 1 || own_.contains(load->buffer.get())) return {};
    // Element `first` and the elements after it.
    const auto* ramp = load->index[0].As<Ramp>();
    if (group > 1 && (ramp == nullptr || ramp->stride != 1)) return {};
    const Expr first = AsRamp(ramp == nullptr ? load->index[0] : ramp->base);
    const auto* groups = first.get() == nullptr ? nullptr : first.As<Ramp>();
    if (groups == nullptr || groups->stride != group) return {};
    return MakeLoad(load->buffer, {MakeRamp(groups->base, 1, lanes_ * group)});
  }

  // Returns the index as base + lane * stride with a scalar base, if it has that form.
  Expr AsRamp(const Expr& e) {
    LinearSum sum = simplifier_.LinearOf(e);
    int64_t stride = 0;
    for (size_t i = 0; i < sum.terms.size(); ++i) {
      if (sum.terms[i].atom.get() == lane_.get())
        stride = sum.terms[i].coefficient;
      else if (Varies(sum.terms[i].atom))
        return {};
    }
    if (stride == 0) return e;
    std::erase_if(sum.terms, [&](const auto& term) { return term.atom.get() == lane_.get(); });
    return MakeRamp(simplifier_.FromLinear(sum), stride, lanes_);
  }

  bool Varies(const Expr& e) {
    if (auto it = varies_.find(e.get()); it != varies_.end()) return it->second;
    bool varies = e.get() == lane_.get();
    if (const auto* load = e.As<Load>()) varies |= own_.contains(load->buffer.get());
    ForEachOperand(*e, [&](const Expr& operand) { varies = varies || Varies(operand); });
    varies_.emplace(e.get(), varies);
    return varies;
  }

  const Var lane_;
  const int lanes_;
  Simplifier& simplifier_;
  std::unordered_set<const BufferNode*> stored_;
  std::unordered_map<const BufferNode*, Buffer> own_;
  // The value keeps the key's expression alive, so that no other expression gets its address.
  absl::flat_hash_map<const ExprNode*, std::pair<Expr, Expr>> widened_;
  absl::flat_hash_map<const ExprNode*, bool> varies_;
  int recursion_ = 0;  // depth of the recursion of Value
};

}  // namespace

std::optional<Stmt> Widen(const Stmt& s, const Var& lane, int lanes, Simplifier& simplifier) {
  return Widener(s, lane, lanes, simplifier).Visit(s);
}

}  // namespace kiln::loop
