// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/interpret_code.h"

namespace kiln::loop {
namespace {

// Level of nodes that must be evaluated in their statement. Other levels are numbers of scopes.
constexpr int kStatementLevel = std::numeric_limits<int>::max();

// Bytes of memory that are filled in the time of one operation.
constexpr int64_t kBytesPerWork = 64;

int64_t WorkOf(const std::vector<Operation>& operations) {
  int64_t work = 0;
  for (const Operation& operation : operations) {
    const auto* dot = std::get_if<DotOperation>(&operation.value);
    work += int64_t{operation.lanes} * (dot == nullptr ? 1 : dot->shape.group);
  }
  return work;
}

struct Location {
  Slot slot;
  int level;
};

class FuncCompiler {
 public:
  FuncCompiler(const Func& func, const ConstantData& constants) : constants_(constants) {
    code_.func = &func;
  }

  absl::StatusOr<FuncCode> Compile() && {
    const Func& func = *code_.func;
    for (const Buffer& param : func.params) AddBuffer(param.get());
    if (func.workspace != nullptr) AddBuffer(func.workspace.get());
    scopes_.push_back({&code_.before, {}});
    for (const Var& scalar : func.scalars) code_.scalars.push_back(Bind(scalar));
    code_.body = CompileSteps(func.body);
    if (!status_.ok()) return status_;
    return std::move(code_);
  }

 private:
  // A loop or the function: the operations evaluated at its start, and the slots of the nodes of
  // its level.
  struct Scope {
    std::vector<Operation>* operations;
    std::unordered_map<const ExprNode*, Slot> slots;
  };

  void Fail(std::string message) {
    if (status_.ok()) status_ = absl::InternalError(code_.func->name + ": " + message);
  }

  int AddBuffer(const BufferNode* buffer) {
    const int number = static_cast<int>(code_.buffers.size());
    code_.buffers.push_back(buffer);
    code_.constant_data.push_back(nullptr);
    buffer_numbers_[buffer] = number;
    return number;
  }

  int BufferNumber(const BufferNode* buffer) {
    auto it = buffer_numbers_.find(buffer);
    if (it != buffer_numbers_.end()) return it->second;
    auto constant = constants_.find(buffer);
    if (constant == constants_.end()) {
      Fail(absl::StrCat("buffer ", buffer->name, " is not in scope"));
      return 0;
    }
    const int number = AddBuffer(buffer);
    code_.constant_data[static_cast<size_t>(number)] = constant->second;
    return number;
  }

  Slot NewSlot(int lanes) {
    const Slot slot = static_cast<Slot>(code_.initial_values.size());
    code_.initial_values.resize(code_.initial_values.size() + static_cast<size_t>(lanes));
    return slot;
  }

  Slot Bind(const Var& var) {
    const Slot slot = NewSlot(1);
    scopes_.back().slots[var.get()] = slot;
    return slot;
  }

  bool Find(const ExprNode* node, Location* location) const {
    if (auto it = statement_.find(node); it != statement_.end()) {
      *location = {it->second, kStatementLevel};
      return true;
    }
    for (size_t level = scopes_.size(); level-- > 0;) {
      auto it = scopes_[level].slots.find(node);
      if (it == scopes_[level].slots.end()) continue;
      *location = {it->second, static_cast<int>(level)};
      return true;
    }
    return false;
  }

  // Returns the slot of a node that has been compiled.
  Slot SlotOf(const Expr& e) const {
    Location location{0, 0};
    Find(e.get(), &location);
    return location.slot;
  }

  Slot CompileExpr(const Expr& root) {
    std::unordered_set<const ExprNode*> visited;
    WalkPostOrder(root, visited, [&](const Expr& e) { CompileNode(e); });
    return SlotOf(root);
  }

  void CompileNode(const Expr& e) {
    Location location;
    if (Find(e.get(), &location)) return;
    const int lanes = e.type().lanes;
    const Slot out = NewSlot(lanes);
    if (const VarNode* var = e.As<VarNode>()) {
      Fail(absl::StrCat("variable ", var->name, " is not in scope"));
    }
    if (AsScalar(e, &code_.initial_values[static_cast<size_t>(out)])) {
      scopes_.front().slots[e.get()] = out;
      return;
    }
    int level = e.As<Load>() != nullptr ? kStatementLevel : 0;
    ForEachOperand(*e, [&](const Expr& operand) {
      if (Find(operand.get(), &location)) level = std::max(level, location.level);
    });
    Operation operation{lanes, out, MakeOperation(e)};
    if (level == kStatementLevel) {
      statement_[e.get()] = out;
      operations_.push_back(std::move(operation));
    } else {
      Scope& scope = scopes_[static_cast<size_t>(level)];
      scope.slots[e.get()] = out;
      scope.operations->push_back(std::move(operation));
    }
  }

  decltype(Operation::value) MakeOperation(const Expr& e) {
    using Value = decltype(Operation::value);
    const DType dtype = e.type().dtype;
    return std::visit(
        Overloaded{
            [&](const Unary& n) -> Value {
              return UnaryOperation{FindUnaryKernel(n.op, dtype), SlotOf(n.a)};
            },
            [&](const Binary& n) -> Value {
              return BinaryOperation{FindBinaryKernel(n.op, dtype), SlotOf(n.a), SlotOf(n.b)};
            },
            [&](const Fma& n) -> Value {
              return FmaOperation{FindFmaKernel(dtype), SlotOf(n.a), SlotOf(n.b), SlotOf(n.c)};
            },
            [&](const Dot& n) -> Value {
              return DotOperation{
                  FindDotKernel(dtype),
                  *DotShape::Of(e.type().lanes, n.a.type().lanes, n.b.type().lanes, n.kind),
                  SlotOf(n.sum), SlotOf(n.a), SlotOf(n.b)};
            },
            [&](const Interleave& n) -> Value {
              InterleaveOperation operation;
              for (int lane = 0; lane < e.type().lanes; ++lane) {
                const Expr& operand = n.operands[n.WhichOperand(lane)];
                operation.lanes.push_back(SlotOf(operand) + n.InOperand(lane));
              }
              return operation;
            },
            [&](const Compare& n) -> Value {
              return BinaryOperation{FindCompareKernel(n.op, n.a.type().dtype), SlotOf(n.a),
                                     SlotOf(n.b)};
            },
            [&](const Select& n) -> Value {
              return SelectOperation{SlotOf(n.condition), SlotOf(n.if_true), SlotOf(n.if_false)};
            },
            [&](const Cast& n) -> Value {
              return UnaryOperation{FindCastKernel(n.a.type().dtype, dtype), SlotOf(n.a)};
            },
            [&](const Bitcast& n) -> Value {
              return UnaryOperation{FindBitcastKernel(n.a.type().dtype, dtype), SlotOf(n.a)};
            },
            [&](const Load& n) -> Value {
              return LoadOperation{FindReadKernel(dtype), MakeAccess(n.buffer, n.index)};
            },
            [&](const Ramp& n) -> Value { return RampOperation{SlotOf(n.base), n.stride}; },
            [&](const Broadcast& n) -> Value { return BroadcastOperation{SlotOf(n.a)}; },
            [&](const auto&) -> Value { return BroadcastOperation{0}; }},
        e->value);
  }

  Access MakeAccess(const Buffer& buffer, const std::vector<Expr>& index) {
    Access access{buffer.get(), BufferNumber(buffer.get()), buffer->dtype.bytes(), {}};
    if (index.size() == 1) {
      access.dimensions.push_back({SlotOf(index[0]), buffer->num_elements(), 1});
      return access;
    }
    const Shape strides = RowMajorStrides(buffer->shape);
    for (size_t d = 0; d < index.size(); ++d) {
      access.dimensions.push_back({SlotOf(index[d]), buffer->shape[d], strides[d]});
    }
    return access;
  }

  Steps CompileSteps(const Stmt& s) {
    Steps steps;
    if (!s) return steps;
    if (const Block* block = s.As<Block>()) {
      for (const Stmt& inner : block->stmts) {
        for (Step& step : CompileSteps(inner)) steps.push_back(std::move(step));
      }
      return steps;
    }
    std::visit([&](const auto& node) { CompileStmt(node, steps); }, s->value);
    return steps;
  }

  // Ends the current statement: `action` runs after the operations of its expressions.
  template <typename T>
  Step& Emit(Steps& steps, T action, int64_t work = 1) {
    work += WorkOf(operations_);
    steps.push_back({std::move(operations_), work, std::move(action)});
    operations_.clear();
    statement_.clear();
    return steps.back();
  }

  void CompileStmt(const For& n, Steps& steps) {
    const Slot begin = CompileExpr(n.begin);
    const Slot extent = CompileExpr(n.extent);
    ForStep loop{.var = 0, .begin = begin, .extent = extent, .each_iteration = {}, .body = {}};
    Step& step = Emit(steps, ForStep{});
    scopes_.push_back({&loop.each_iteration, {}});
    loop.var = Bind(n.var);
    loop.body = CompileSteps(n.body);
    loop.work += WorkOf(loop.each_iteration);
    scopes_.pop_back();
    step.action = std::move(loop);
  }

  void CompileStmt(const Store& n, Steps& steps) {
    for (const Expr& i : n.index) CompileExpr(i);
    const Slot value = CompileExpr(n.value);
    const int lanes = n.value.type().lanes;
    Emit(steps,
         StoreStep{FindWriteKernel(n.buffer->dtype), lanes, value, MakeAccess(n.buffer, n.index)},
         lanes);
  }

  void CompileStmt(const Prefetch&, Steps&) {}
  void CompileStmt(const Block&, Steps&) {}

  void CompileStmt(const If& n, Steps& steps) {
    const Slot condition = CompileExpr(n.condition);
    Step& step = Emit(steps, IfStep{});
    IfStep branch{condition, CompileSteps(n.then_body), CompileSteps(n.else_body)};
    step.action = std::move(branch);
  }

  void CompileStmt(const Allocate& n, Steps& steps) {
    const bool in_workspace =
        n.buffer->scope == BufferScope::kWorkspace && code_.func->workspace != nullptr;
    AllocateStep allocate{
        AddBuffer(n.buffer.get()), in_workspace, n.workspace_offset, n.buffer->num_bytes(), {}};
    if (!in_workspace) {
      allocate.offset = code_.local_bytes;
      code_.local_bytes += allocate.bytes;
    }
    Step& step = Emit(steps, AllocateStep{}, 1 + allocate.bytes / kBytesPerWork);
    allocate.body = CompileSteps(n.body);
    step.action = std::move(allocate);
    buffer_numbers_.erase(n.buffer.get());
  }

  void CompileStmt(const Call& n, Steps& steps) { CompileCall(n.function, 0, n.args, steps); }
  void CompileStmt(const Launch& n, Steps& steps) {
    CompileCall(n.function, n.max_tasks, n.args, steps);
  }

  void CompileStmt(const loop::Fail& n, Steps& steps) {
    const Slot number = CompileExpr(n.number);
    Emit(steps, FailStep{n.before, n.after, number, !n.number.type().dtype.is_uint()});
  }

  void CompileCall(const std::string& function, int64_t max_tasks,
                   const std::vector<Argument>& args, Steps& steps) {
    CallStep call{function, max_tasks, {}};
    for (const Argument& a : args) {
      const Slot offset = CompileExpr(a.offset);
      if (a.buffer == nullptr) {
        call.args.push_back({-1, 0, offset});
      } else {
        call.args.push_back({BufferNumber(a.buffer.get()), a.buffer->dtype.bytes(), offset});
      }
    }
    Emit(steps, std::move(call));
  }

  const ConstantData& constants_;
  FuncCode code_;
  absl::Status status_;
  std::unordered_map<const BufferNode*, int> buffer_numbers_;
  std::vector<Scope> scopes_;
  // Operations and slots of the statement that is being compiled.
  std::vector<Operation> operations_;
  std::unordered_map<const ExprNode*, Slot> statement_;
};

}  // namespace

absl::StatusOr<FuncCode> CompileForInterpreter(const Func& func, const ConstantData& constants) {
  return FuncCompiler(func, constants).Compile();
}

}  // namespace kiln::loop
