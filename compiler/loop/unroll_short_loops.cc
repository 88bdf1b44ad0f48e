// SPDX-License-Identifier: Apache-2.0
// Loops are visited from the inside out, because a loop that is written out completely may make the
// loop around it short.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/runs.h"
#include "compiler/loop/small_loops.h"
#include "compiler/loop/work.h"

namespace kiln::loop {
namespace {

constexpr int64_t kMaxIterations = 8;    // iterations that become one
constexpr double kStepsOfIteration = 3;  // counting, comparing and branching
// Count for operations that take many instructions or must not be repeated.
constexpr int64_t kMany = std::numeric_limits<int32_t>::max();

// True if the elements are in a register: the buffer is local, and their index is constant.
bool IsInRegister(const Buffer& buffer, const Expr& index) {
  int64_t place;
  const auto* ramp = index.As<Ramp>();
  return buffer->scope == BufferScope::kLocal &&
         AsInt(ramp == nullptr ? index : ramp->base, &place);
}

// Number of operations of a load or a store.
int64_t OperationsOfAccess(const Buffer& buffer, const Expr& index) {
  const auto* ramp = index.As<Ramp>();
  if (index.type().is_vector() && (ramp == nullptr || ramp->stride != 1)) return kMany;
  return IsInRegister(buffer, index) ? 0 : 1;
}

// Counts the operations of one store: loads and stores of memory, and steps of arithmetic on
// values.
class OperationCounter {
 public:
  explicit OperationCounter(const SmallLoops& limits) : limits_(limits) {}

  int64_t CountOf(const Store& store) {
    if (store.index.size() != 1) return kMany;
    int64_t count = OperationsOfAccess(store.buffer, store.index[0]);
    VisitExpr(store.value, [&](const Expr& e) { count += CountOf(e); });
    return count;
  }

 private:
  int64_t CountOf(const Expr& e) const {
    if (e.As<Dot>() != nullptr || e.As<Interleave>() != nullptr) return kMany;
    if (e.type().index) return 0;
    const DType dtype = e.type().dtype;
    if (const auto* load = e.As<Load>()) return OperationsOfAccess(load->buffer, load->index[0]);
    const bool is_cast = e.As<Cast>() != nullptr;
    const bool computes = is_cast || e.As<Unary>() != nullptr || e.As<Binary>() != nullptr ||
                          e.As<Fma>() != nullptr || e.As<Compare>() != nullptr ||
                          e.As<Select>() != nullptr;
    if (!computes) return 0;
    if (dtype.is_float()) return limits_.floats && dtype.bits <= 32 ? 1 : kMany;
    // Loads extend values, and stores keep the lower bits.
    return is_cast && e.As<Cast>()->a.type().dtype.is_integral() ? 0 : 1;
  }

  const SmallLoops& limits_;
};

// Number of runs of each function in one run of the program.
class Times {
 public:
  explicit Times(const LoopProgram& program) {
    // Callees come before their callers.
    for (auto func = program.funcs.rbegin(); func != program.funcs.rend(); ++func) {
      if (func->body) Visit(func->body, Of(*func));
    }
  }

  double Of(const Func& func) const {
    const auto it = times_.find(func.name);
    return it == times_.end() ? 1 : it->second;
  }

 private:
  void Visit(const Stmt& s, double times) {
    if (const auto* call = s.As<Call>()) times_[call->function] += times;
    const auto* loop = s.As<For>();
    const double inner = loop == nullptr ? times : times * Iterations(*loop);
    MutateBodies(s, [&](const Stmt& body) {
      Visit(body, inner);
      return body;
    });
  }

  std::unordered_map<std::string, double> times_;
};

// Number of operations if `s` consists of stores only, otherwise kMany.
int64_t OperationsOf(const Stmt& s, const SmallLoops& limits) {
  if (const auto* store = s.As<Store>()) return OperationCounter(limits).CountOf(*store);
  const auto* block = s.As<Block>();
  if (block == nullptr) return kMany;
  int64_t count = 0;
  for (const Stmt& stmt : block->stmts) count += OperationsOf(stmt, limits);
  return count;
}

class ShortLoopUnroller {
 public:
  explicit ShortLoopUnroller(const SmallLoops& limits) : limits_(limits) {}

  // `share` is the part of the program's work that one step of arithmetic in `s` takes.
  Stmt Visit(const Stmt& s, double share) {
    const auto* loop = s.As<For>();
    if (loop == nullptr) {
      return MutateBodies(s, [&](const Stmt& stmt) { return Visit(stmt, share); });
    }
    Stmt body = Visit(loop->body, share * Iterations(*loop));
    const Stmt same = body.get() == loop->body.get()
                          ? s
                          : MakeFor(loop->var, loop->begin, loop->extent, loop->kind, body);
    const auto* visited = same.As<For>();
    return visited == nullptr ? same : Unrolled(same, *visited, share);
  }

 private:
  // Number of iterations that become one, in a loop of `extent` iterations with `operations`
  // operations each. 1: none do.
  int64_t IterationsTogether(int64_t extent, int64_t operations) const {
    const int64_t most =
        std::min(kMaxIterations, limits_.operations / std::max<int64_t>(operations, 1));
    for (int64_t count = most; count > 1; --count) {
      if (extent % count == 0) return count;
    }
    return std::max<int64_t>(most / 2, 1);  // the remaining iterations are written out as well
  }

  // True if it pays to write out groups of `together` of the `iterations`, each with `operations`
  // operations.
  bool IsWorth(int64_t operations, int64_t iterations, int64_t together, double share) const {
    const auto saved = static_cast<double>(iterations - iterations / together);
    const auto added = static_cast<double>((together + iterations % together - 1) * operations);
    return kStepsOfIteration * saved * share >= limits_.saved_by_operation * added;
  }

  Stmt Unrolled(const Stmt& s, const For& loop, double share) const {
    int64_t extent;
    const bool is_in_order = loop.kind == ForKind::kSerial || loop.kind == ForKind::kVectorized;
    if (!is_in_order || !AsInt(loop.extent, &extent) || extent < 2) return s;
    if (AsCopy(loop).has_value() || IsFill(loop)) return s;
    const int64_t operations = OperationsOf(loop.body, limits_);
    if (operations > limits_.operations) return s;
    const bool all = extent * operations <= limits_.operations;
    const int64_t together = all ? extent : IterationsTogether(extent, operations);
    if (together < 2 || !IsWorth(operations, extent, together, share)) return s;
    if (all) return Copies(loop, loop.begin, extent);
    const Var piece = MakeVar(loop.var.As<VarNode>()->name);
    const int64_t pieces = extent / together;
    return MakeBlock({MakeFor(piece, 0, pieces, ForKind::kSerial,
                              Copies(loop, loop.begin + piece * Expr(together), together)),
                      Copies(loop, loop.begin + Expr(pieces * together), extent % together)});
  }

  static Stmt Copies(const For& loop, const Expr& first, int64_t count) {
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < count; ++i) {
      copies.push_back(Substitute(loop.body, {{loop.var.get(), first + Expr(i)}}));
    }
    return MakeBlock(std::move(copies));
  }

  const SmallLoops& limits_;
};

}  // namespace

void UnrollShortLoops(LoopProgram& program, const SmallLoops& limits) {
  if (limits.operations == 0) return;
  const Times times(program);
  double work = 0;
  for (const Func& func : program.funcs) work += times.Of(func) * WorkOf(func.body).all;
  for (Func& func : program.funcs) {
    const Stmt unrolled = ShortLoopUnroller(limits).Visit(func.body, times.Of(func) / work);
    if (unrolled.get() != func.body.get()) func.body = Simplify(unrolled);
  }
}

}  // namespace kiln::loop
