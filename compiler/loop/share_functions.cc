// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/expr_pool.h"
#include "compiler/loop/fingerprint.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// What a function declares and reads, in the order in which it stands there: functions that are
// alike but for their constants are alike part by part.
struct Parts {
  std::vector<Buffer> constants;
  std::vector<Buffer> own;  // that it allocates
  std::vector<Var> vars;    // of its loops
  bool calls = false;
};

Parts PartsOf(const Func& func) {
  Parts parts;
  std::set<const BufferNode*> seen;
  const auto see = [&](const Buffer& buffer) {
    const bool is_constant = buffer->scope == BufferScope::kConstant;
    if (is_constant && seen.insert(buffer.get()).second) parts.constants.push_back(buffer);
  };
  VisitStmt(
      func.body,
      [&](const Expr& e) {
        if (const auto* load = e.As<Load>()) see(load->buffer);
      },
      [&](const Stmt& s) {
        if (const auto* n = s.As<For>()) parts.vars.push_back(n->var);
        if (const auto* n = s.As<Allocate>()) parts.own.push_back(n->buffer);
        if (const auto* n = s.As<Prefetch>()) see(n->buffer);
        if (s.As<Call>() != nullptr || s.As<Launch>() != nullptr) parts.calls = true;
      });
  return parts;
}

// A loop is worth a function of its own; straight-line code hardly is.
bool CanBeShared(const Func& func, const Parts& parts) {
  return func.kind == Func::Kind::kOperator && func.body && !parts.vars.empty() && !parts.calls;
}

bool AreAlike(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i]->dtype != b[i]->dtype || a[i]->shape != b[i]->shape || a[i]->scope != b[i]->scope ||
        a[i]->alignment_bytes != b[i]->alignment_bytes) {
      return false;
    }
  }
  return true;
}

int64_t WorkspaceBytes(const Func& func) {
  return func.workspace == nullptr ? -1 : func.workspace->num_bytes();
}

// A function that takes the constants of those that share it as inputs, behind theirs; made when
// there are two.
struct SharedFunc {
  std::vector<size_t> members = {};
  Parts first_parts = {};  // of the first member
  Func func = {};
  Parts parts = {};  // of `func`
};

class Sharing {
 public:
  explicit Sharing(LoopProgram& program) : program_(program) {}

  void Run() {
    for (size_t i = 0; i < program_.funcs.size(); ++i) {
      const Func& func = program_.funcs[i];
      Parts parts = PartsOf(func);
      if (CanBeShared(func, parts)) Add(i, std::move(parts));
    }
    std::map<size_t, const SharedFunc*> first, of;
    for (const auto& [key, bucket] : buckets_) {
      for (const SharedFunc& shared : bucket) {
        if (shared.members.size() < 2) continue;
        first[shared.members.front()] = &shared;
        for (size_t i : shared.members) of[i] = &shared;
      }
    }
    std::vector<Func> funcs;
    for (size_t i = 0; i < program_.funcs.size(); ++i) {
      if (const auto shared = first.find(i); shared != first.end()) {
        funcs.push_back(shared->second->func);
      }
      funcs.push_back(std::move(program_.funcs[i]));
      const auto shared = of.find(i);
      if (shared != of.end()) CallShared(*shared->second, funcs.back());
    }
    program_.funcs = std::move(funcs);
  }

 private:
  using Key = std::tuple<uint64_t, int, int64_t>;

  void Add(size_t i, Parts parts) {
    const Func& func = program_.funcs[i];
    std::vector<SharedFunc>& bucket =
        buckets_[{Fingerprint(func), func.cpu_variant, WorkspaceBytes(func)}];
    for (SharedFunc& shared : bucket) {
      if (IsAlike(func, parts, shared)) {
        shared.members.push_back(i);
        return;
      }
    }
    bucket.push_back({.members = {i}, .first_parts = std::move(parts)});
  }

  void MakeShared(SharedFunc& shared) const {
    const Func& first = program_.funcs[shared.members.front()];
    Func& func = shared.func = first;
    func.name = absl::StrCat(func.name, "_shared");
    func.convention = Convention::kUnpacked;
    func.by_name = false;
    func.exported = false;
    func.allocate_workspace = false;
    shared.parts = shared.first_parts;
    for (Buffer& constant : shared.parts.constants) {
      constant = MakeBuffer(constant->name, constant->dtype, constant->shape, BufferScope::kParam,
                            constant->alignment_bytes);
    }
    func.params.insert(func.params.begin() + func.num_inputs, shared.parts.constants.begin(),
                       shared.parts.constants.end());
    func.num_inputs += static_cast<int>(shared.parts.constants.size());
    func.body = Rewritten(first, shared.first_parts, shared);
  }

  // The body of `func` in the names of `shared`.
  static Stmt Rewritten(const Func& func, const Parts& parts, const SharedFunc& shared) {
    BufferReplacement buffers;
    const std::vector<Buffer>& params = shared.func.params;
    const size_t num_constants = parts.constants.size();
    const size_t inputs = static_cast<size_t>(func.num_inputs);
    for (size_t k = 0; k < func.params.size(); ++k) {
      buffers[func.params[k].get()] = params[k < inputs ? k : k + num_constants];
    }
    for (size_t k = 0; k < num_constants; ++k) {
      buffers[parts.constants[k].get()] = shared.parts.constants[k];
    }
    for (size_t k = 0; k < parts.own.size(); ++k) {
      buffers[parts.own[k].get()] = shared.parts.own[k];
    }
    Substitution vars;
    for (size_t k = 0; k < parts.vars.size(); ++k) {
      vars[parts.vars[k].get()] = shared.parts.vars[k];
    }
    return MutateStmt(ReplaceBuffers(Substitute(func.body, vars), buffers), [&](const Stmt& s) {
      const auto* n = s.As<For>();
      if (n == nullptr) return s;
      return MakeFor(vars.at(n->var.get()), n->begin, n->extent, n->kind, n->body);
    });
  }

  bool IsAlike(const Func& func, const Parts& parts, SharedFunc& shared) {
    const Func& other = program_.funcs[shared.members.front()];
    const Parts& others = shared.first_parts;
    if (func.num_inputs != other.num_inputs || func.in_place != other.in_place ||
        parts.vars.size() != others.vars.size() || !AreAlike(func.params, other.params) ||
        !AreAlike(parts.constants, others.constants) || !AreAlike(parts.own, others.own)) {
      return false;
    }
    if (!shared.func.body) MakeShared(shared);
    return Same(Rewritten(func, parts, shared), shared.func.body);
  }

  bool Same(const Expr& a, const Expr& b) {
    if (a.get() == b.get()) return true;
    return a.get() != nullptr && b.get() != nullptr &&
           pool_.Intern(a).get() == pool_.Intern(b).get();
  }
  bool Same(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!Same(a[i], b[i])) return false;
    }
    return true;
  }

  bool Same(const Stmt& a, const Stmt& b) {
    if (a.get() == b.get()) return true;
    if (!a || !b || a->value.index() != b->value.index()) return false;
    if (const auto *x = a.As<For>(), *y = b.As<For>(); x != nullptr) {
      return x->var.get() == y->var.get() && x->kind == y->kind && Same(x->begin, y->begin) &&
             Same(x->extent, y->extent) && Same(x->body, y->body);
    }
    if (const auto *x = a.As<Store>(), *y = b.As<Store>(); x != nullptr) {
      return x->buffer == y->buffer && Same(x->index, y->index) && Same(x->value, y->value);
    }
    if (const auto *x = a.As<Prefetch>(), *y = b.As<Prefetch>(); x != nullptr) {
      return x->buffer == y->buffer && x->level == y->level && Same(x->offset, y->offset);
    }
    if (const auto *x = a.As<Block>(), *y = b.As<Block>(); x != nullptr) {
      if (x->stmts.size() != y->stmts.size()) return false;
      for (size_t i = 0; i < x->stmts.size(); ++i) {
        if (!Same(x->stmts[i], y->stmts[i])) return false;
      }
      return true;
    }
    if (const auto *x = a.As<If>(), *y = b.As<If>(); x != nullptr) {
      return Same(x->condition, y->condition) && Same(x->then_body, y->then_body) &&
             Same(x->else_body, y->else_body);
    }
    if (const auto *x = a.As<Allocate>(), *y = b.As<Allocate>(); x != nullptr) {
      return x->buffer == y->buffer && x->workspace_offset == y->workspace_offset &&
             Same(x->body, y->body);
    }
    if (const auto *x = a.As<Fail>(), *y = b.As<Fail>(); x != nullptr) {
      return x->before == y->before && x->after == y->after && Same(x->number, y->number);
    }
    return false;
  }

  // The body of a member: a call with its own constants.
  void CallShared(const SharedFunc& shared, Func& func) const {
    std::vector<Argument> args;
    const auto pass = [&](const Buffer& buffer) { args.push_back({buffer, Expr(0)}); };
    const size_t inputs = static_cast<size_t>(func.num_inputs);
    for (size_t i = 0; i < inputs; ++i) pass(func.params[i]);
    for (const Buffer& constant : PartsOf(func).constants) pass(constant);
    for (size_t i = inputs; i < func.params.size(); ++i) pass(func.params[i]);
    if (func.workspace != nullptr) pass(func.workspace);
    func.body = MakeCall(shared.func.name, std::move(args));
  }

  LoopProgram& program_;
  ExprPool pool_;
  std::map<Key, std::vector<SharedFunc>> buckets_;
};

}  // namespace

void ShareFunctions(LoopProgram& program) { Sharing(program).Run(); }

}  // namespace kiln::loop
