// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/verify.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/range.h"
#include "compiler/loop/scalars.h"
#include "compiler/loop/verify_expr.h"

namespace kiln::loop {
namespace {

using FuncTable = std::unordered_map<std::string, const Func*>;
using BufferSet = std::unordered_set<const BufferNode*>;

// Maximum number of characters of a statement that an error quotes.
constexpr size_t kMaxQuote = 400;

class FuncVerifier {
 public:
  // `callees` are the functions before this one.
  FuncVerifier(const Func& func, const FuncTable& callees, const BufferSet& constants,
               bool has_profile_hook)
      : func_(func),
        callees_(callees),
        constants_(constants),
        has_profile_hook_(has_profile_hook) {}

  absl::Status Verify() {
    KILN_RETURN_IF_ERROR(VerifySignature());
    return VerifyStmt(func_.body);
  }

  // Returns the statement with the error, or null if it is in none.
  const StmtNode* broken() const { return broken_; }

 private:
  // A loop around the current statement that has constant bounds and at least one iteration.
  struct Loop {
    Var var;
    Interval range;
  };

  absl::Status Error(absl::string_view message) const {
    return absl::InternalError(absl::StrCat("function ", func_.name, ": ", message));
  }

  absl::Status InStmt(const absl::Status& status, const Stmt& s) {
    broken_ = s.get();
    std::string text = ToString(s);
    if (text.size() > kMaxQuote) {
      text.resize(kMaxQuote);
      absl::StrAppend(&text, "...\n");
    }
    return absl::InternalError(absl::StrCat(status.message(), "\nin\n", text));
  }

  absl::Status VerifySignature() {
    if (func_.num_inputs < 0 || static_cast<size_t>(func_.num_inputs) > func_.params.size()) {
      return Error(
          absl::StrCat(func_.num_inputs, " inputs of ", func_.params.size(), " parameters"));
    }
    for (size_t i = 0; i < func_.params.size(); ++i) {
      const Buffer& param = func_.params[i];
      if (param == nullptr) return Error(absl::StrCat("parameter ", i, " is missing"));
      if (IsDeclared(*param)) return Error(param->name + " is declared twice");
      buffers_.insert(param.get());
      if (static_cast<int>(i) >= func_.num_inputs) writable_.insert(param.get());
    }
    if (func_.workspace != nullptr) {
      if (func_.workspace->dtype != DType::UInt(8)) return Error("the workspace is not of uint8");
      buffers_.insert(func_.workspace.get());
      writable_.insert(func_.workspace.get());
    }
    if (func_.num_pools < 0 || func_.num_contexts < 0 ||
        func_.num_inputs + func_.num_pools + func_.num_contexts >
            static_cast<int>(func_.params.size())) {
      return Error("more pools and contexts than parameters");
    }
    if (func_.by_name && func_.convention != Convention::kPacked) {
      return Error("a function that is found by its name is packed");
    }
    if (func_.kind == Func::Kind::kExternal && (func_.body || func_.workspace != nullptr)) {
      return Error("a function of another program has a body or a workspace");
    }
    const bool may_have_more = func_.kind == Func::Kind::kTask ||
                               (func_.kind == Func::Kind::kOperator && !func_.exported &&
                                func_.convention == Convention::kUnpacked);
    const size_t least = NumLeadingScalars(func_);
    if (func_.scalars.size() < least || (func_.scalars.size() > least && !may_have_more)) {
      return Error(absl::StrCat(func_.scalars.size(), " scalar parameters"));
    }
    for (const Var& scalar : func_.scalars) {
      if (scalar.As<VarNode>() == nullptr) return Error("a scalar parameter is no variable");
      vars_.insert(scalar.get());
    }
    return absl::OkStatus();
  }

  absl::Status VerifyStmt(const Stmt& s) {
    if (!s) return absl::OkStatus();
    return std::visit([&](const auto& node) { return VerifyNode(s, node); }, s->value);
  }

  absl::Status VerifyNode(const Stmt&, const Block& n) {
    for (const Stmt& inner : n.stmts) KILN_RETURN_IF_ERROR(VerifyStmt(inner));
    return absl::OkStatus();
  }

  absl::Status VerifyNode(const Stmt& s, const For& n) {
    const auto check = [&]() -> absl::Status {
      if (n.var.As<VarNode>() == nullptr || n.var.type() != Type::Index()) {
        return Error("the variable of a loop is no index");
      }
      KILN_RETURN_IF_ERROR(VerifyExpr(n.begin, Type::Index()));
      KILN_RETURN_IF_ERROR(VerifyExpr(n.extent, Type::Index()));
      int64_t extent;
      if (n.kind == ForKind::kUnrolled && !AsInt(n.extent, &extent)) {
        return Error("an unrolled loop has no constant extent");
      }
      if (vars_.contains(n.var.get())) {
        return Error(n.var.As<VarNode>()->name + " is the variable of two nested loops");
      }
      return absl::OkStatus();
    };
    if (absl::Status status = check(); !status.ok()) return InStmt(status, s);
    const size_t num_loops = loops_.size();
    const bool rectangular = rectangular_, in_parallel = in_parallel_;
    in_parallel_ |= n.kind == ForKind::kParallel || n.kind == ForKind::kVectorized;
    int64_t begin, extent;
    int64_t end;
    if (AsInt(n.begin, &begin) && AsInt(n.extent, &extent) && extent > 0 &&
        !__builtin_add_overflow(begin, extent, &end)) {
      loops_.push_back({n.var, {begin, end - 1}});
    } else {
      rectangular_ = false;
    }
    vars_.insert(n.var.get());
    KILN_RETURN_IF_ERROR(VerifyStmt(n.body));
    vars_.erase(n.var.get());
    loops_.resize(num_loops);
    rectangular_ = rectangular;
    in_parallel_ = in_parallel;
    return absl::OkStatus();
  }

  absl::Status VerifyNode(const Stmt& s, const If& n) {
    if (absl::Status status = VerifyExpr(n.condition, Type::Of(DType::Bool())); !status.ok()) {
      return InStmt(status, s);
    }
    const bool rectangular = rectangular_;
    rectangular_ = false;
    KILN_RETURN_IF_ERROR(VerifyStmt(n.then_body));
    KILN_RETURN_IF_ERROR(VerifyStmt(n.else_body));
    rectangular_ = rectangular;
    return absl::OkStatus();
  }

  absl::Status VerifyNode(const Stmt& s, const Store& n) {
    const auto check = [&]() -> absl::Status {
      KILN_RETURN_IF_ERROR(VerifyWritable(n.buffer));
      const int lanes = n.value.type().lanes;
      // The indices of a store obey the rules of a load.
      const Expr load = NewExpr(Type::Of(n.buffer->dtype, lanes), Load{n.buffer, n.index});
      KILN_RETURN_IF_ERROR(VerifyExpr(load, load.type()));
      return VerifyExpr(n.value, load.type());
    };
    const absl::Status status = check();
    return status.ok() ? status : InStmt(status, s);
  }

  // The element may lie outside of the buffer.
  absl::Status VerifyNode(const Stmt& s, const Prefetch& n) {
    absl::Status status = VerifyInScope(n.buffer);
    if (status.ok()) status = VerifyExpr(n.offset, Type::Index());
    return status.ok() ? status : InStmt(status, s);
  }

  absl::Status VerifyNode(const Stmt& s, const Allocate& n) {
    const auto check = [&]() -> absl::Status {
      const BufferNode& buffer = *n.buffer;
      if (IsDeclared(buffer)) return Error(buffer.name + " is declared twice");
      if (buffer.scope == BufferScope::kLocal || buffer.scope == BufferScope::kStatic) {
        return absl::OkStatus();
      }
      if (buffer.scope != BufferScope::kWorkspace) return Error(buffer.name + " is not local");
      if (func_.workspace == nullptr) return absl::OkStatus();
      if (n.workspace_offset < 0 ||
          buffer.num_bytes() > func_.workspace->num_bytes() - n.workspace_offset) {
        return Error(buffer.name + " lies beyond the workspace");
      }
      return absl::OkStatus();
    };
    if (absl::Status status = check(); !status.ok()) return InStmt(status, s);
    buffers_.insert(n.buffer.get());
    writable_.insert(n.buffer.get());
    KILN_RETURN_IF_ERROR(VerifyStmt(n.body));
    buffers_.erase(n.buffer.get());
    writable_.erase(n.buffer.get());
    return absl::OkStatus();
  }

  absl::Status VerifyNode(const Stmt& s, const Call& n) {
    absl::Status status = VerifyCall(n.function, n.args, false);
    if (status.ok() && n.profile_index >= 0 && !has_profile_hook_) {
      status = Error("a call with a profile index in a program without a profile hook");
    }
    return status.ok() ? status : InStmt(status, s);
  }

  absl::Status VerifyNode(const Stmt& s, const Launch& n) {
    absl::Status status = VerifyCall(n.function, n.args, true);
    if (status.ok() && n.max_tasks < 1) status = Error("a launch of no tasks");
    return status.ok() ? status : InStmt(status, s);
  }

  absl::Status VerifyNode(const Stmt& s, const Fail& n) {
    absl::Status status;
    if (func_.kind == Func::Kind::kTask || in_parallel_) {
      status = Error("a failure in a parallel or vectorized loop");
    } else {
      status = VerifyExpr(n.number, n.number.type());
    }
    return status.ok() ? status : InStmt(status, s);
  }

  absl::Status VerifyCall(const std::string& name, const std::vector<Argument>& args, bool launch) {
    auto it = callees_.find(name);
    if (it == callees_.end()) return Error("no function " + name + " before this one");
    const Func& callee = *it->second;
    if ((callee.kind == Func::Kind::kTask) != launch) {
      return Error(name + (launch ? " is no task" : " is a task"));
    }
    std::vector<Buffer> params = callee.params;
    if (callee.workspace != nullptr && !callee.allocate_workspace) {
      params.push_back(callee.workspace);
    }
    const size_t num_scalars = callee.scalars.size() - NumLeadingScalars(callee);
    size_t buffers = 0, scalars = 0;
    for (const Argument& arg : args) {
      KILN_RETURN_IF_ERROR(VerifyExpr(arg.offset, Type::Index()));
      if (arg.buffer == nullptr) {
        ++scalars;
        continue;
      }
      if (buffers == params.size()) return Error("too many arguments for " + name);
      const bool is_input = buffers < static_cast<size_t>(callee.num_inputs);
      KILN_RETURN_IF_ERROR(is_input ? VerifyInScope(arg.buffer) : VerifyWritable(arg.buffer));
      const Buffer& param = params[buffers++];
      int64_t offset;
      if (AsInt(arg.offset, &offset) &&
          (offset < 0 || offset > arg.buffer->num_elements() ||
           param->num_bytes() > arg.buffer->num_bytes() - offset * arg.buffer->dtype.bytes())) {
        return Error(absl::StrCat(arg.buffer->name, " + ", offset, " has not the ",
                                  param->num_bytes(), " bytes of ", name, "'s ", param->name));
      }
    }
    if (buffers != params.size() || scalars != num_scalars) {
      return Error(absl::StrCat(buffers, " buffers and ", scalars, " scalars for ", name,
                                ", which takes ", params.size(), " and ", num_scalars));
    }
    return absl::OkStatus();
  }

  bool IsDeclared(const BufferNode& buffer) const {
    return buffers_.contains(&buffer) || constants_.contains(&buffer);
  }

  absl::Status VerifyInScope(const Buffer& buffer) const {
    if (IsDeclared(*buffer)) return absl::OkStatus();
    return Error("buffer " + buffer->name + " is not in scope");
  }

  absl::Status VerifyWritable(const Buffer& buffer) const {
    KILN_RETURN_IF_ERROR(VerifyInScope(buffer));
    if (writable_.contains(buffer.get())) return absl::OkStatus();
    return Error("buffer " + buffer->name + " is written, but it is an input or a constant");
  }

  absl::Status VerifyExpr(const Expr& root, const Type& wanted) const {
    if (root.get() == nullptr) return Error("an expression is missing");
    absl::Status status;
    std::unordered_set<const ExprNode*> visited;
    WalkPostOrder(root, visited, [&](const Expr& e) {
      if (!status.ok()) return;
      if (std::string error = FindTypeError(e); !error.empty()) {
        status = Error(absl::StrCat(error, ": ", ToString(e)));
      } else if (const VarNode* var = e.As<VarNode>(); var != nullptr && !vars_.contains(e.get())) {
        status = Error("variable " + var->name + " is not in scope");
      } else if (const Load* load = e.As<Load>()) {
        status = VerifyInScope(load->buffer);
        if (status.ok()) status = VerifyBounds(*load);
      }
    });
    if (status.ok() && root.type() != wanted) {
      status = Error(absl::StrCat(ToString(root), " has type ", root.type().ToString(), ", not ",
                                  wanted.ToString()));
    }
    return status;
  }

  absl::Status VerifyBounds(const Load& n) const {
    for (size_t d = 0; d < n.index.size(); ++d) {
      const int64_t extent = n.index.size() == 1 ? n.buffer->num_elements() : n.buffer->shape[d];
      const std::optional<Interval> range = ExactRange(n.index[d]);
      if (range.has_value() && (range->min < 0 || range->max >= extent)) {
        return Error(absl::StrCat("an index of ", n.buffer->name, " goes from ", range->min, " to ",
                                  range->max, ", but must be in [0, ", extent, ")"));
      }
    }
    return absl::OkStatus();
  }

  // Returns the smallest and the largest value of an index if both certainly occur. This requires
  // that all loops around it have constant bounds, that no condition guards it, and that it is
  // linear in the variables of the loops.
  std::optional<Interval> ExactRange(const Expr& index) const {
    if (!rectangular_) return std::nullopt;
    const Ramp* ramp = index.As<Ramp>();
    std::vector<Var> vars;
    for (const Loop& loop : loops_) vars.push_back(loop.var);
    LinearForm form;
    int64_t base;
    if (!AsLinear(ramp != nullptr ? ramp->base : index, vars, &form) || !AsInt(form.base, &base)) {
      return std::nullopt;
    }
    Range range = Range::Point(base);
    const auto widen = [&](int64_t coefficient, Interval of) {
      range = Add(range, Multiply(Range::Point(coefficient), {of.min, of.max}));
    };
    for (size_t i = 0; i < loops_.size(); ++i) widen(form.coefficients[i], loops_[i].range);
    if (ramp != nullptr) widen(ramp->stride, {0, ramp->lanes - 1});
    return Interval{range.lo, range.hi};
  }

  const Func& func_;
  const FuncTable& callees_;
  const BufferSet& constants_;
  const bool has_profile_hook_;
  BufferSet buffers_;  // declared at the current place in the function
  BufferSet writable_;
  std::unordered_set<const ExprNode*> vars_;
  std::vector<Loop> loops_;
  bool rectangular_ = true;
  bool in_parallel_ = false;  // or in a vectorized loop
  const StmtNode* broken_ = nullptr;
};

absl::Status VerifyConstant(const Constant& constant) {
  const BufferNode& buffer = *constant.buffer;
  if (buffer.scope != BufferScope::kConstant) {
    return absl::InternalError("constant " + buffer.name + " has another scope");
  }
  if (static_cast<int64_t>(constant.tensor.bytes().size()) != buffer.num_bytes()) {
    return absl::InternalError(absl::StrCat("constant ", buffer.name, " has ",
                                            constant.tensor.bytes().size(), " bytes, not ",
                                            buffer.num_bytes()));
  }
  return absl::OkStatus();
}

absl::Status VerifyCpuChoice(const LoopProgram& program) {
  const auto fits = [&](const std::string& name, Func::Kind kind, std::vector<DType> dtypes) {
    const Func* func = program.FindFunc(name);
    std::vector<DType> found;
    if (func == nullptr || func->kind != kind || func->workspace != nullptr) return false;
    for (const Buffer& param : func->params) found.push_back(param->dtype);
    return found == dtypes && func->convention == Convention::kUnpacked && !func->exported;
  };
  if (const auto& choice = program.cpu_choice) {
    if (!fits(choice->function, Func::Kind::kExternal, {DType::Int(32)}) ||
        !fits(choice->decide, Func::Kind::kOperator, {DType::UInt(32), DType::Int(32)})) {
      return absl::InternalError("the choice of a CPU variant has not the functions that it needs");
    }
  }
  for (const Func& func : program.funcs) {
    const int num_targets = std::max(1, static_cast<int>(program.targets.size()));
    if (func.target >= 0 && func.target < num_targets) continue;
    return absl::InternalError(
        absl::StrCat(func.name, " is for target ", func.target, ", and there are ", num_targets));
  }
  return absl::OkStatus();
}

}  // namespace

Breach FindBreach(const LoopProgram& program) {
  BufferSet constants;
  const auto elsewhere = [&](absl::Status status) {
    return Breach{std::move(status), program.funcs.size()};
  };
  for (const Constant& constant : program.constants) {
    if (absl::Status status = VerifyConstant(constant); !status.ok()) return elsewhere(status);
    if (!constants.insert(constant.buffer.get()).second) {
      return elsewhere(
          absl::InternalError("constant " + constant.buffer->name + " stands there twice"));
    }
  }
  FuncTable funcs;
  for (size_t i = 0; i < program.funcs.size(); ++i) {
    const Func& func = program.funcs[i];
    FuncVerifier verifier(func, funcs, constants, !program.profile_hook.empty());
    if (absl::Status status = verifier.Verify(); !status.ok()) {
      return {std::move(status), i, verifier.broken()};
    }
    if (!funcs.emplace(func.name, &func).second) {
      return {absl::InternalError("two functions are called " + func.name), i};
    }
  }
  return elsewhere(VerifyCpuChoice(program));
}

absl::Status VerifyProgram(const LoopProgram& program) { return FindBreach(program).status; }

}  // namespace kiln::loop
