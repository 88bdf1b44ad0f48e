// SPDX-License-Identifier: Apache-2.0
// A vectorized loop becomes pieces with one iteration per lane. In each piece the loop's variable
// is replaced by base + lane. Simplify has the range of `lane` and brings the indices into their
// normal form. Indices that are linear in `lane` then become ramps.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/loop/dot_tile.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/runs.h"
#include "compiler/loop/simplifier.h"
#include "compiler/loop/widen.h"

namespace kiln::loop {
namespace {

// Maximum number of pieces that are written out.
constexpr int64_t kStraightPieces = 4;
// Maximum number of lanes of the vectors of any machine.
constexpr int64_t kMaxLanes = 64;

bool ContainsVectorizedLoop(const Stmt& s) {
  bool found = false;
  VisitStmt(s, nullptr, [&](const Stmt& stmt) {
    const auto* loop = stmt.As<For>();
    found = found || (loop != nullptr && loop->kind == ForKind::kVectorized);
  });
  return found;
}

// Bits of the widest element that differs by iteration. Stored elements count, and all values that
// depend on the variable or on a buffer allocated in the loop.
int WidestBits(const For& loop) {
  int bits = 8;
  auto see = [&](DType dtype) { bits = std::max(bits, static_cast<int>(dtype.bits)); };
  std::unordered_set<const ExprNode*> varying = {loop.var.get()};
  std::unordered_set<const BufferNode*> own;
  VisitStmt(loop.body, nullptr, [&](const Stmt& stmt) {
    if (const auto* n = stmt.As<Allocate>()) own.insert(n->buffer.get());
    if (const auto* n = stmt.As<Store>()) see(n->buffer->dtype);
  });
  VisitStmt(loop.body, [&](const Expr& e) {
    bool varies = e.As<Load>() != nullptr && own.contains(e.As<Load>()->buffer.get());
    ForEachOperand(*e, [&](const Expr& operand) { varies |= varying.contains(operand.get()); });
    if (!varies) return;
    varying.insert(e.get());
    if (!e.type().index) see(e.type().dtype);
  });
  return bits;
}

// Returns the iterations base … base + lanes - 1 of a loop, or nothing if they cannot be vectors.
std::optional<Stmt> PieceOf(const For& loop, const Expr& base, int64_t lanes,
                            Simplifier& simplifier) {
  const Var lane = MakeVar("lane");
  simplifier.Bind(lane, {0, lanes - 1});
  simplifier.BindValue(loop.var, simplifier.Simplify(base + lane));
  std::optional<Stmt> piece = simplifier.Simplify(loop.body);
  if (lanes > 1) piece = Widen(*piece, lane, static_cast<int>(lanes), simplifier);
  simplifier.Unbind(loop.var);
  simplifier.Unbind(lane);
  return piece;
}

// True if a value uses several elements of a load.
bool HasVectors(const Expr& value) {
  bool found = false;
  VisitExpr(value, [&](const Expr& e) { found |= e.type().lanes != 1 || e.As<Dot>() != nullptr; });
  return found;
}

bool LoadsItself(const Store& store) {
  bool found = false;
  VisitExpr(store.value, [&](const Expr& e) {
    found |= e.As<Load>() != nullptr && e.As<Load>()->buffer == store.buffer;
  });
  return found;
}

// Joins a serial loop and the vectorized loop in it into one vectorized loop if they store
// neighboring elements of a local buffer. A local buffer shares no memory with the loaded buffers.
Stmt JoinedVectors(const Stmt& s) {
  const auto* outer = s.As<For>();
  const auto* inner = outer->kind == ForKind::kSerial ? outer->body.As<For>() : nullptr;
  if (inner == nullptr || inner->kind != ForKind::kVectorized) return s;
  const auto* store = inner->body.As<Store>();
  int64_t extent, inner_extent;
  if (store == nullptr || store->buffer->scope != BufferScope::kLocal || store->index.size() != 1 ||
      !IsInt(outer->begin, 0) || !IsInt(inner->begin, 0) || !AsInt(outer->extent, &extent) ||
      !AsInt(inner->extent, &inner_extent) || HasVectors(store->value) || LoadsItself(*store) ||
      !GoesOn(*outer, *inner, inner_extent, *store)) {
    return s;
  }
  return MakeFor(inner->var, 0, extent * inner_extent, ForKind::kVectorized,
                 Substitute(inner->body, {{outer->var.get(), Expr(0)}}));
}

using KeepsStore = std::function<bool(const Store&)>;

// True if `keeps` accepts all stores of vectors.
bool KeepsAll(const Stmt& s, const KeepsStore& keeps) {
  if (keeps == nullptr) return true;
  bool result = true;
  VisitStmt(s, nullptr, [&](const Stmt& at) {
    const auto* store = at.As<Store>();
    if (store != nullptr && store->value.type().is_vector()) result &= keeps(*store);
  });
  return result;
}

class Vectorizer {
 public:
  Vectorizer(int vector_bits, const KeepsStore& keeps) : vector_bits_(vector_bits), keeps_(keeps) {}

  Stmt Visit(const Stmt& s) {
    if (const auto* n = s.As<For>()) {
      if (n->kind == ForKind::kVectorized && !ContainsVectorizedLoop(n->body)) return VisitLoop(*n);
      if (const Stmt joined = JoinedVectors(s); joined.As<For>() != n) return Visit(joined);
      const ForKind kind = n->kind == ForKind::kVectorized ? ForKind::kSerial : n->kind;
      simplifier_.BindLoop(*n);
      Stmt body = Visit(n->body);
      simplifier_.Unbind(n->var);
      return MakeFor(n->var, n->begin, n->extent, kind, std::move(body));
    }
    return MutateBodies(s, [this](const Stmt& stmt) { return Visit(stmt); });
  }

 private:
  Stmt VisitLoop(const For& loop) {
    const Stmt serial = MakeFor(loop.var, loop.begin, loop.extent, ForKind::kSerial, loop.body);
    int64_t extent;
    const int64_t lanes =
        std::bit_floor(static_cast<uint64_t>(std::max(vector_bits_ / WidestBits(loop), 1)));
    if (lanes == 1) return serial;
    if (!AsInt(simplifier_.Simplify(loop.extent), &extent)) return DynamicLoop(loop, lanes, serial);

    std::vector<Stmt> pieces;
    const int64_t width = std::min(
        lanes,
        static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(extent, 1)))));
    int64_t done = 0;
    if (extent / width > kStraightPieces) {
      if (!AddPieceLoop(loop, width, Expr(extent / width), &pieces)) return serial;
      done = extent / width * width;
    }
    for (int64_t piece = width; done < extent; piece /= 2) {
      for (; done + piece <= extent; done += piece) {
        if (AddPiece(loop, loop.begin + Expr(done), piece, &pieces)) continue;
        if (pieces.empty()) return serial;
        pieces.push_back(Rest(loop, Expr(done)));
        return MakeBlock(std::move(pieces));
      }
    }
    return MakeBlock(std::move(pieces));
  }

  Stmt DynamicLoop(const For& loop, int64_t lanes, const Stmt& serial) {
    std::vector<Stmt> pieces;
    const Expr full = simplifier_.Simplify(loop.extent / Expr(lanes));
    if (!AddPieceLoop(loop, lanes, full, &pieces)) return serial;
    pieces.push_back(Rest(loop, full * Expr(lanes)));
    return MakeBlock(std::move(pieces));
  }

  // Returns the iterations after the first `done` as a serial loop.
  Stmt Rest(const For& loop, const Expr& done) {
    return MakeFor(loop.var, simplifier_.Simplify(loop.begin + done),
                   simplifier_.Simplify(loop.extent - done), ForKind::kSerial, loop.body);
  }

  // Adds a serial loop over `count` pieces of `lanes` lanes, from the first iteration on. Returns
  // false if the pieces cannot be vectors.
  bool AddPieceLoop(const For& loop, int64_t lanes, const Expr& count, std::vector<Stmt>* pieces) {
    const Var chunk = MakeVar(loop.var.As<VarNode>()->name);
    std::vector<Stmt> body;
    simplifier_.Bind(chunk, simplifier_.RangeOfLoop(simplifier_.Simplify(Expr(0)), count));
    const bool ok = AddPiece(loop, loop.begin + chunk * Expr(lanes), lanes, &body);
    simplifier_.Unbind(chunk);
    if (ok) pieces->push_back(MakeFor(chunk, Expr(0), count, ForKind::kSerial, MakeBlock(body)));
    return ok;
  }

  bool AddPiece(const For& loop, const Expr& base, int64_t lanes, std::vector<Stmt>* pieces) {
    std::optional<Stmt> piece = PieceOf(loop, base, lanes, simplifier_);
    if (!piece || (lanes > 1 && !KeepsAll(*piece, keeps_))) return false;
    pieces->push_back(*std::move(piece));
    return true;
  }

  const int vector_bits_;
  const KeepsStore& keeps_;
  Simplifier simplifier_;
};

}  // namespace

Stmt VectorizeLoops(const Stmt& s, int vector_bits,
                    const std::function<bool(const Store&)>& keeps) {
  return Vectorizer(vector_bits, keeps).Visit(s);
}

Stmt VectorizeDots(const Stmt& s, const std::function<bool(const Dot&)>& keeps) {
  return MutateStmt(s, [&](const Stmt& at) {
    const auto* loop = at.As<For>();
    if (loop == nullptr || loop->kind != ForKind::kVectorized) return at;
    const auto* sum = loop->body.As<Store>();
    int64_t lanes = 0;
    const bool may_be = sum != nullptr && sum->value.As<Dot>() != nullptr &&
                        AsInt(loop->extent, &lanes) && lanes > 1 && lanes <= kMaxLanes;
    if (!may_be) return at;
    Simplifier simplifier;
    const std::optional<Stmt> piece = PieceOf(*loop, loop->begin, lanes, simplifier);
    const auto* store = piece.has_value() ? piece->As<Store>() : nullptr;
    const auto* dot = store == nullptr ? nullptr : store->value.As<Dot>();
    const bool is_kept = dot != nullptr && SumsInPlace(*store).has_value() && keeps(*dot);
    return is_kept ? *piece : at;
  });
}

}  // namespace kiln::loop
