// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/nest.h"

#include <unordered_set>
#include <utility>

namespace kiln::schedule {

using loop::ExprNode;

namespace {

// Marks the positions of all variables of `e` that are in `positions`.
void MarkVars(const Expr& e, const std::unordered_map<const ExprNode*, size_t>& positions,
              std::vector<bool>& marks) {
  for (const ExprNode* var : loop::VarsOf(e)) {
    if (auto it = positions.find(var); it != positions.end()) marks[it->second] = true;
  }
}

// Returns the operands of a node that is not a load.
std::vector<Expr> Operands(const Expr& e) {
  return std::visit(
      [](const auto& node) -> std::vector<Expr> {
        using T = std::decay_t<decltype(node)>;
        if constexpr (std::is_same_v<T, loop::Unary> || std::is_same_v<T, loop::Cast> ||
                      std::is_same_v<T, loop::Bitcast> || std::is_same_v<T, loop::Broadcast>) {
          return {node.a};
        } else if constexpr (std::is_same_v<T, loop::Binary> || std::is_same_v<T, loop::Compare>) {
          return {node.a, node.b};
        } else if constexpr (std::is_same_v<T, loop::Fma>) {
          return {node.a, node.b, node.c};
        } else if constexpr (std::is_same_v<T, loop::Dot>) {
          return {node.sum, node.a, node.b};
        } else if constexpr (std::is_same_v<T, loop::Interleave>) {
          return node.operands;
        } else if constexpr (std::is_same_v<T, loop::Select>) {
          return {node.condition, node.if_true, node.if_false};
        } else if constexpr (std::is_same_v<T, loop::Ramp>) {
          return {node.base};
        } else {
          return {};
        }
      },
      e->value);
}

bool IsIndirect(const Expr& index) {
  bool indirect = false;
  loop::VisitExpr(index, [&](const Expr& e) {
    if (e.As<loop::Load>() != nullptr) indirect = true;
    if (const auto* binary = e.As<loop::Binary>()) {
      indirect |= binary->op == loop::BinaryOp::kDiv || binary->op == loop::BinaryOp::kMod;
    }
  });
  return indirect;
}

// One group of neighboring axes that become one axis.
struct Merged {
  Axis axis;
  size_t last;  // position of the innermost old axis
};

// Groups axes[begin, end). Neighbors are merged if the coefficients of every access agree, and
// neither is used elsewhere.
std::vector<Merged> MergePlan(const std::vector<Axis>& axes, size_t begin, size_t end,
                              const std::vector<LinearAccess>& accesses,
                              const std::vector<bool>& used_elsewhere) {
  std::vector<Merged> plan;
  for (size_t i = begin; i < end; ++i) {
    if (axes[i].extent == 1) continue;
    bool joins = !plan.empty() && !used_elsewhere[i] && !used_elsewhere[plan.back().last];
    for (const LinearAccess& access : accesses) {
      if (!joins) break;
      joins = access.form.coefficients[plan.back().last] ==
              access.form.coefficients[i] * axes[i].extent;
    }
    if (joins) {
      plan.back().axis.extent *= axes[i].extent;
      plan.back().last = i;
    } else {
      plan.push_back({{axes[i].var, axes[i].extent}, i});
    }
  }
  return plan;
}

}  // namespace

Stmt Nest(const std::vector<Axis>& axes, ForKind kind, Stmt body) {
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].extent == 1) {
      body = loop::Substitute(body, {{axes[i].var.get(), Expr(0)}});
    } else {
      body = loop::MakeFor(axes[i].var, 0, axes[i].extent, kind, body);
    }
  }
  return body;
}

Stmt SerialLoop(const char* name, const Expr& begin, const Expr& extent,
                const std::function<Stmt(const Var&)>& body) {
  const Var var = loop::MakeVar(name);
  return loop::MakeFor(var, begin, extent, ForKind::kSerial, body(var));
}

Buffer LocalNumber(const char* name, DType dtype) {
  return loop::MakeBuffer(name, dtype, {1}, loop::BufferScope::kLocal);
}
Expr NumberIn(const Buffer& local) { return loop::MakeLoad(local, {Expr(0)}); }
Stmt SetNumber(const Buffer& local, const Expr& value) {
  return loop::MakeStore(local, {Expr(0)}, value);
}

ForKind LaneLoop(int64_t extent, DType dtype, const Target& target) {
  // If the machine has vectors of other types, LLVM unrolls loops that it cannot vectorize.
  const bool scalar = target.Lanes(target.by_c_compiler ? dtype : DType::Int(32)) == 1;
  return scalar && extent <= target.machine->code.max_written_out ? ForKind::kUnrolled
                                                                  : ForKind::kVectorized;
}

void AddBounds(const std::vector<Axis>& axes, loop::Bounds& bounds) {
  for (const Axis& axis : axes) {
    bounds[axis.var.get()] = {0, std::max<int64_t>(axis.extent - 1, 0)};
  }
}

std::vector<Var> VarsOfAxes(const std::vector<Axis>& axes) {
  std::vector<Var> vars;
  for (const Axis& axis : axes) vars.push_back(axis.var);
  return vars;
}

int64_t TotalExtent(const std::vector<Axis>& axes) {
  int64_t total = 1;
  for (const Axis& axis : axes) total *= axis.extent;
  return total;
}

Expr FlatIndex(const Buffer& buffer, const std::vector<Expr>& index, const loop::Bounds& bounds) {
  if (index.size() == 1 && buffer->shape.size() != 1) return loop::Simplify(index[0], bounds);
  const Shape strides = buffer->strides();
  Expr flat = 0;
  for (size_t i = 0; i < index.size(); ++i) flat = flat + index[i] * Expr(strides[i]);
  return loop::Simplify(flat, bounds);
}

AccessSet CollectAccesses(const Expr& value, const std::vector<Var>& vars,
                          const loop::Bounds& bounds) {
  std::unordered_map<const ExprNode*, size_t> positions;
  for (size_t i = 0; i < vars.size(); ++i) positions[vars[i].get()] = i;
  AccessSet set;
  set.used_elsewhere.assign(vars.size(), false);
  std::unordered_set<const ExprNode*> seen;
  std::vector<Expr> work = {value};
  while (!work.empty()) {
    const Expr e = work.back();
    work.pop_back();
    if (!seen.insert(e.get()).second) continue;
    if (const auto* load = e.As<loop::Load>()) {
      LinearAccess access{.load = e.get(), .buffer = load->buffer, .form = {}};
      if (loop::AsLinear(FlatIndex(load->buffer, load->index, bounds), vars, &access.form)) {
        set.linear.push_back(std::move(access));
      } else {
        set.all_linear = false;
        for (const Expr& index : load->index) MarkVars(index, positions, set.used_elsewhere);
      }
    } else if (auto it = positions.find(e.get()); it != positions.end()) {
      set.used_elsewhere[it->second] = true;
    } else {
      for (Expr& operand : Operands(e)) work.push_back(std::move(operand));
    }
  }
  return set;
}

Expr ReplaceLoads(const Expr& e, const Buffer& buffer,
                  const std::function<Expr(const std::vector<Expr>&)>& f) {
  return loop::MutateExpr(e, [&](const Expr& node) -> Expr {
    const auto* load = node.As<loop::Load>();
    return load != nullptr && load->buffer == buffer ? f(load->index) : Expr();
  });
}

bool IsIdentity(const Stage& stage) {
  if (stage.index.size() != stage.axes.size()) return false;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (stage.index[i].get() != stage.axes[i].var.get()) return false;
  }
  return true;
}

Axis FreshAxis(const Axis& axis) {
  return {loop::MakeVar(axis.var.As<loop::VarNode>()->name), axis.extent};
}

std::vector<Axis> FreshAxes(const std::vector<Axis>& axes) {
  std::vector<Axis> fresh;
  for (const Axis& axis : axes) fresh.push_back(FreshAxis(axis));
  return fresh;
}

std::vector<Strip> Strips(int64_t extent, int64_t size, absl::string_view name) {
  const int64_t whole = extent / size, rest = extent % size;
  const Axis pieces = {loop::MakeVar(std::string(name)), whole};
  const Axis last = {loop::MakeVar(std::string(name)), 1};
  std::vector<Strip> strips;
  if (whole > 0) strips.push_back({pieces, pieces.var * Expr(size), size});
  if (rest > 0) strips.push_back({last, Expr(whole * size), rest});
  return strips;
}

bool Reads(const Stage& stage, const Buffer& buffer) {
  bool reads = false;
  loop::VisitExpr(stage.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    reads |= load != nullptr && load->buffer == buffer;
  });
  return reads;
}

Expr InlineInto(const Expr& value, const Stage& producer) {
  return ReplaceLoads(value, producer.buffer, [&](const std::vector<Expr>& index) {
    loop::Substitution at;
    for (size_t i = 0; i < index.size(); ++i) at[producer.axes[i].var.get()] = index[i];
    return loop::Substitute(producer.value, at);
  });
}

int64_t Cost(const Expr& e, const Target& target) {
  int64_t cost = 0;
  std::unordered_set<const ExprNode*> seen;
  std::vector<Expr> work = {e};
  while (!work.empty()) {
    const Expr node = work.back();
    work.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (const auto* load = node.As<loop::Load>()) {
      cost += 1;
      for (const Expr& index : load->index) {
        if (IsIndirect(index)) cost += target.machine->costs.indirect_index;
      }
      continue;
    }
    if (node.As<loop::IntImm>() || node.As<loop::FloatImm>() || node.As<loop::VarNode>()) continue;
    const auto* binary = node.As<loop::Binary>();
    const auto* unary = node.As<loop::Unary>();
    const bool slow = (binary != nullptr && (binary->op == loop::BinaryOp::kDiv ||
                                             binary->op == loop::BinaryOp::kMod)) ||
                      (unary != nullptr && unary->op == loop::UnaryOp::kSqrt);
    const bool limits = unary != nullptr && loop::SaturationOf(unary->op).has_value();
    cost += slow ? target.machine->costs.slow_operation : limits ? 2 : 1;
    for (Expr& operand : Operands(node)) work.push_back(std::move(operand));
  }
  return cost;
}

int64_t Cost(const Stage& stage, const Target& target) {
  const int64_t points = TotalExtent(stage.axes) * TotalExtent(stage.reduce);
  return points * (Cost(stage.value, target) + 1);
}

bool WorthThreads(int64_t cost, const Target& target) {
  return target.cores != 1 && cost >= target.machine->threads.min_cost;
}

void MergeAxes(LoopBody& body) {
  std::vector<Axis> all = body.axes;
  all.insert(all.end(), body.reduce.begin(), body.reduce.end());
  loop::Bounds bounds;
  AddBounds(all, bounds);
  const std::vector<Var> vars = VarsOfAxes(all);
  std::vector<LinearAccess> accesses;
  std::vector<bool> used_elsewhere(all.size(), false);
  for (const Expr& value : body.values) {
    AccessSet set = CollectAccesses(value, vars, bounds);
    accesses.insert(accesses.end(), set.linear.begin(), set.linear.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (set.used_elsewhere[i]) used_elsewhere[i] = true;
    }
  }
  const size_t num_loads = accesses.size();
  for (const LoopBody::Place& store : body.stores) {
    LinearAccess access{.load = nullptr, .buffer = store.buffer, .form = {}};
    if (!loop::AsLinear(FlatIndex(store.buffer, store.index, bounds), vars, &access.form)) return;
    accesses.push_back(std::move(access));
  }
  const size_t num_space = body.axes.size();
  const std::vector<Merged> space = MergePlan(all, 0, num_space, accesses, used_elsewhere);
  const std::vector<Merged> reduce =
      MergePlan(all, num_space, all.size(), accesses, used_elsewhere);

  body.axes.clear();
  body.reduce.clear();
  for (const Merged& m : space) body.axes.push_back(m.axis);
  for (const Merged& m : reduce) body.reduce.push_back(m.axis);
  loop::Substitution rewritten;
  for (const Axis& axis : all) {
    if (axis.extent == 1) rewritten[axis.var.get()] = Expr(0);
  }
  const loop::Substitution ones = rewritten;
  const auto flat = [&](const LinearAccess& access) {
    Expr index = loop::Substitute(access.form.base, ones);
    for (const auto* plan : {&space, &reduce}) {
      for (const Merged& m : *plan) {
        index = index + m.axis.var * Expr(access.form.coefficients[m.last]);
      }
    }
    return index;
  };
  for (size_t i = 0; i < num_loads; ++i) {
    rewritten[accesses[i].load] = loop::MakeLoad(accesses[i].buffer, {flat(accesses[i])});
  }
  for (Expr& value : body.values) value = loop::Substitute(value, rewritten);
  for (size_t i = 0; i < body.stores.size(); ++i) {
    body.stores[i].index = {flat(accesses[num_loads + i])};
  }
}

Stage MergeAxes(const Stage& stage) {
  LoopBody body{.axes = stage.axes,
                .reduce = stage.reduce,
                .values = {stage.value},
                .stores = {{stage.buffer, stage.index}}};
  MergeAxes(body);
  Stage merged = stage;
  merged.axes = body.axes;
  merged.reduce = body.reduce;
  merged.value = body.values[0];
  merged.index = body.stores[0].index;
  return merged;
}

}  // namespace kiln::schedule
