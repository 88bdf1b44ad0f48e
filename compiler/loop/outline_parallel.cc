// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

// The buffers and variables that a parallel loop uses from its surroundings, in the order of first
// use.
struct Captures {
  std::vector<Buffer> read;     // only read
  std::vector<Buffer> written;  // stored, or handed to a call
  std::vector<Var> scalars;     // variables of outer loops
};

class CaptureFinder {
 public:
  // `callees` are the functions before the one that contains the loop.
  explicit CaptureFinder(const std::vector<Func>& callees) : callees_(callees) {}

  Captures Find(const For& loop) {
    // The first pass collects declarations within the loop, which are not captured.
    Declare(loop.var);
    VisitStmt(loop.body, nullptr, [this](const Stmt& s) {
      if (const auto* n = s.As<For>()) Declare(n->var);
      if (const auto* n = s.As<Allocate>()) own_.insert(n->buffer.get());
      if (const auto* n = s.As<Store>()) written_.insert(n->buffer.get());
      if (const auto* n = s.As<Call>()) SeeWritten(*n);
    });
    // The task computes its range, so the bounds of the loop are captured too.
    VisitExpr(loop.begin, [this](const Expr& e) { SeeExpr(e); });
    VisitExpr(loop.extent, [this](const Expr& e) { SeeExpr(e); });
    VisitStmt(
        loop.body, [this](const Expr& e) { SeeExpr(e); },
        [this](const Stmt& s) {
          if (const auto* n = s.As<Store>()) SeeBuffer(n->buffer);
          if (const auto* n = s.As<Prefetch>()) SeeBuffer(n->buffer);
          if (const auto* n = s.As<Call>()) {
            for (const Argument& arg : n->args) {
              if (arg.buffer) SeeBuffer(arg.buffer);
            }
          }
        });
    return std::move(captures_);
  }

 private:
  // A callee stores to its outputs and its workspace.
  void SeeWritten(const Call& call) {
    int num_inputs = 0;
    for (const Func& func : callees_) {
      if (func.name == call.function) num_inputs = func.num_inputs;
    }
    for (size_t i = static_cast<size_t>(num_inputs); i < call.args.size(); ++i) {
      if (call.args[i].buffer) written_.insert(call.args[i].buffer.get());
    }
  }

  void Declare(const Var& var) { seen_.insert(var.get()); }

  void SeeExpr(const Expr& e) {
    if (e.As<VarNode>() != nullptr && seen_.insert(e.get()).second) captures_.scalars.push_back(e);
    if (const auto* load = e.As<Load>()) SeeBuffer(load->buffer);
  }

  void SeeBuffer(const Buffer& buffer) {
    if (buffer->scope == BufferScope::kConstant || own_.contains(buffer.get()) ||
        !seen_buffers_.insert(buffer.get()).second) {
      return;
    }
    (written_.contains(buffer.get()) ? captures_.written : captures_.read).push_back(buffer);
  }

  const std::vector<Func>& callees_;
  Captures captures_;
  std::unordered_set<const ExprNode*> seen_;
  std::unordered_set<const BufferNode*> seen_buffers_;
  std::unordered_set<const BufferNode*> own_;
  std::unordered_set<const BufferNode*> written_;
};

Stmt MakeSerial(const Stmt& s) {
  return MutateStmt(s, [](const Stmt& stmt) {
    const auto* n = stmt.As<For>();
    if (n == nullptr || n->kind != ForKind::kParallel) return stmt;
    return MakeFor(n->var, n->begin, n->extent, ForKind::kSerial, n->body);
  });
}

// True if a buffer of the workspace or a static one is allocated. It exists once, not once per
// task.
bool AllocatesWorkspace(const Stmt& s) {
  bool found = false;
  VisitStmt(s, nullptr, [&](const Stmt& stmt) {
    const auto* n = stmt.As<Allocate>();
    found = found || (n != nullptr && n->buffer->scope != BufferScope::kLocal);
  });
  return found;
}

class Outliner {
 public:
  Outliner(const Func& func, const std::vector<Func>& callees, int threads)
      : func_(func), callees_(callees), threads_(threads) {}

  Stmt Visit(const Stmt& s) {
    if (const auto* n = s.As<For>(); n != nullptr && n->kind == ForKind::kParallel) {
      return AllocatesWorkspace(s) ? MakeSerial(s) : Outline(*n);
    }
    return MutateBodies(s, [this](const Stmt& stmt) { return Visit(stmt); });
  }

  std::vector<Func>& tasks() { return tasks_; }

 private:
  Stmt Outline(const For& loop) {
    const Captures captures = CaptureFinder(callees_).Find(loop);
    Func task;
    task.name = absl::StrCat(func_.name, "_task", tasks_.size());
    task.kind = Func::Kind::kTask;
    task.exported = false;
    task.in_place = func_.in_place;
    task.target = func_.target;
    task.num_inputs = static_cast<int>(captures.read.size());
    const Var number = MakeVar("task");
    const Var count = MakeVar("num_tasks");
    task.scalars = {number, count};

    std::vector<Argument> args;
    BufferReplacement param_of;
    auto capture = [&](const Buffer& buffer) {
      Buffer param = MakeBuffer(buffer->name, buffer->dtype, buffer->shape, BufferScope::kParam,
                                buffer->alignment_bytes);
      task.params.push_back(param);
      param_of.emplace(buffer.get(), std::move(param));
      args.push_back({buffer, Expr(0)});
    };
    for (const Buffer& buffer : captures.read) capture(buffer);
    for (const Buffer& buffer : captures.written) capture(buffer);
    Substitution scalar_of;
    for (const Var& var : captures.scalars) {
      const Var param = MakeVar(var.As<VarNode>()->name, var.type());
      task.scalars.push_back(param);
      scalar_of.emplace(var.get(), param);
      args.push_back({nullptr, var});
    }

    // The task runs iterations [extent * task / num_tasks, extent * (task + 1) / num_tasks). Max
    // and Min are redundant, but let Simplify know the range of the loop.
    const Expr first = Max(loop.extent * number / count, Expr(0));
    const Expr end = Min(loop.extent * (number + Expr(1)) / count, loop.extent);
    Stmt body =
        MakeFor(loop.var, loop.begin + first, end - first, ForKind::kSerial, MakeSerial(loop.body));
    task.body = ReplaceBuffers(Substitute(body, scalar_of), param_of);

    int64_t extent;
    int64_t max_tasks = threads_;
    if (AsInt(loop.extent, &extent)) max_tasks = std::min(max_tasks, std::max<int64_t>(extent, 1));
    Stmt launch = MakeLaunch(task.name, max_tasks, std::move(args));
    tasks_.push_back(std::move(task));
    return launch;
  }

  const Func& func_;
  const std::vector<Func>& callees_;
  const int threads_;
  std::vector<Func> tasks_;
};

}  // namespace

void OutlineParallel(LoopProgram& program, int threads) {
  std::vector<Func> funcs;
  for (Func& func : program.funcs) {
    if (threads <= 1 || func.kind == Func::Kind::kTask) {
      func.body = MakeSerial(func.body);
    } else {
      Outliner outliner(func, funcs, threads);
      func.body = outliner.Visit(func.body);
      for (Func& task : outliner.tasks()) funcs.push_back(std::move(task));
    }
    funcs.push_back(std::move(func));
  }
  program.funcs = std::move(funcs);
}

}  // namespace kiln::loop
