// SPDX-License-Identifier: Apache-2.0
// Names, bodies and expressions.
#include "compiler/graph/elaborate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln::relay {
namespace {

// Limits on elaboration, so that a small text with functions that call functions cannot unfold to a
// huge graph. A step is one evaluated expression or one input of a node; a node takes about eight.
// A text may take kStepsOfAnyText steps and kStepsOfByte more per byte, at most kMaxSteps.
constexpr int64_t kStepsOfAnyText = 1 << 18;
constexpr int64_t kStepsOfByte = 64;
constexpr int64_t kMaxSteps = 8 * kMaxGraphNodes;
constexpr int kMaxEvalDepth = 2 * kMaxNestingDepth;

}  // namespace

std::string DescribeResult(const Result& result) {
  if (const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&result)) {
    return absl::StrCat("a tuple with ", (*tuple)->fields.size(), " fields");
  }
  return std::holds_alternative<ValueId>(result) ? "a tensor" : "a function";
}

absl::StatusOr<Graph> Elaborator::Run() {
  auto main = module_.find("main");
  if (main == module_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(file_name_, ": found no function @main"));
  }
  const Function& function = main->second;
  KILN_RETURN_IF_ERROR(CheckPinnedShapes(function));
  std::vector<TypeSyntax> types;
  for (const Parameter& parameter : function.parameters) {
    KILN_ASSIGN_OR_RETURN(TypeSyntax type, MainParameterType(parameter));
    types.push_back(std::move(type));
  }
  Building building;
  building_ = &building;
  active_functions_.push_back(&function);
  Scope& scope = *NewScope(nullptr);
  KILN_RETURN_IF_ERROR(AddParameters(function, types, scope));
  KILN_ASSIGN_OR_RETURN(const Result result, EvalBody(function.body, scope));
  KILN_RETURN_IF_ERROR(SetOutputs(function, result));
  building.graph.attrs = GraphAttrs(function);
  return std::move(building.graph);
}

Scope* Elaborator::NewScope(const Scope* parent) {
  Scope& scope = scopes_.emplace_back();
  scope.parent = parent;
  return &scope;
}

absl::Status Elaborator::Define(Scope& scope, const std::string& name, Result result,
                                Position position) {
  const auto [it, is_new] = scope.names.try_emplace(name, Definition{std::move(result), position});
  if (is_new) return absl::OkStatus();
  return Error(position, absl::StrCat("%", name, " is defined already at ",
                                      it->second.position.line, ":", it->second.position.column));
}

absl::StatusOr<Result> Elaborator::Lookup(const Scope& scope, const std::string& name,
                                          Position position) const {
  bool is_outside = false;
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    if (auto it = at->names.find(name); it != at->names.end()) {
      if (!is_outside) return it->second.result;
      return Error(position,
                   absl::StrCat("%", name,
                                " is defined outside of this function; one with the attribute "
                                "Primitive or Compiler reads only its parameters"));
    }
    is_outside |= at->is_group;
  }
  return Error(position, absl::StrCat("unknown variable %", name));
}

absl::StatusOr<Result> Elaborator::EvalBody(const Body& body, Scope& scope) {
  for (const Binding& binding : body.bindings) {
    KILN_ASSIGN_OR_RETURN(Result result, Eval(*binding.value, scope));
    if (binding.type) KILN_RETURN_IF_ERROR(ApplyType(result, *binding.type));
    if (const ValueId* id = std::get_if<ValueId>(&result)) {
      Value& value = graph().value(*id);
      if (value.name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(binding.name[0]))) {
        value.name = binding.name;
      }
    }
    KILN_RETURN_IF_ERROR(Define(scope, binding.name, std::move(result), binding.position));
  }
  return Eval(*body.result, scope);
}

int64_t Elaborator::MaxSteps(size_t text_bytes) {
  const auto counted = static_cast<int64_t>(std::min<size_t>(text_bytes, kMaxSteps));
  return std::min(kStepsOfAnyText + kStepsOfByte * counted, kMaxSteps);
}

absl::StatusOr<Result> Elaborator::Eval(const Expr& expr, Scope& scope) {
  if (++num_steps_ > max_steps_) {
    return Error(expr.position,
                 absl::StrCat("the calls of functions unfold to more than ", max_steps_,
                              " expressions and inputs, the most for a text of this length"));
  }
  if (depth_ >= kMaxEvalDepth) {
    return Error(expr.position, absl::StrCat("nested deeper than ", kMaxEvalDepth,
                                             " levels, counting the functions that are called"));
  }
  ++depth_;
  absl::StatusOr<Result> result = EvalNode(expr, scope);
  --depth_;
  return result;
}

absl::StatusOr<Result> Elaborator::EvalNode(const Expr& expr, Scope& scope) {
  const Position position = expr.position;
  if (const auto* node = std::get_if<LiteralExpr>(&expr.node)) {
    return Result(graph().AddConstant(node->value));
  }
  if (const auto* node = std::get_if<MetaExpr>(&expr.node)) return EvalMeta(*node, position);
  if (const auto* node = std::get_if<VariableExpr>(&expr.node)) {
    return Lookup(scope, node->name, position);
  }
  if (const auto* node = std::get_if<GlobalExpr>(&expr.node)) return EvalGlobal(*node, position);
  if (const auto* node = std::get_if<TupleExpr>(&expr.node)) {
    std::vector<Result> fields;
    for (const ExprPtr& field : node->fields) {
      KILN_ASSIGN_OR_RETURN(Result result, Eval(*field, scope));
      fields.push_back(std::move(result));
    }
    return MakeTuple(std::move(fields), position);
  }
  if (const auto* node = std::get_if<ProjectExpr>(&expr.node)) {
    return EvalProject(*node, position, scope);
  }
  if (const auto* node = std::get_if<CallExpr>(&expr.node)) return EvalCall(*node, position, scope);
  if (const auto* node = std::get_if<InfixExpr>(&expr.node)) return EvalInfix(*node, scope);
  if (const auto* node = std::get_if<FunctionExpr>(&expr.node)) {
    return Result(Closure{&node->function, &scope});
  }
  if (const auto* node = std::get_if<IfExpr>(&expr.node)) return EvalIf(*node, position, scope);
  if (const auto* node = std::get_if<BlockExpr>(&expr.node)) {
    return EvalBody(node->body, *NewScope(&scope));
  }
  return Error(position, "found an operator's name, wanted a call of it");
}

absl::StatusOr<Result> Elaborator::EvalMeta(const MetaExpr& meta, Position position) {
  if (meta.index < 0 || meta.index >= static_cast<int64_t>(constants_.size())) {
    return Error(position,
                 absl::StrCat("found meta[relay.Constant][", meta.index,
                              "], the metadata section has ", constants_.size(), " constants"));
  }
  const auto [it, is_new] = building_->constants.try_emplace(meta.index, kNoId);
  if (is_new) it->second = graph().AddConstant(constants_[static_cast<size_t>(meta.index)]);
  return Result(it->second);
}

absl::StatusOr<Result> Elaborator::EvalGlobal(const GlobalExpr& global, Position position) {
  auto it = module_.find(global.name);
  if (it == module_.end()) return Error(position, absl::StrCat("unknown function @", global.name));
  return Result(Closure{&it->second, nullptr});
}

absl::StatusOr<Result> Elaborator::EvalProject(const ProjectExpr& project, Position position,
                                               Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const Result result, Eval(*project.tuple, scope));
  const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&result);
  if (tuple == nullptr) {
    return Error(position, absl::StrCat("found ", DescribeResult(result),
                                        ", wanted a tuple before '.", project.index, "'"));
  }
  if (project.index < 0 || project.index >= static_cast<int64_t>((*tuple)->fields.size())) {
    return Error(position,
                 absl::StrCat("found field ", project.index, " of ", DescribeResult(result)));
  }
  return (*tuple)->fields[static_cast<size_t>(project.index)];
}

absl::StatusOr<Result> Elaborator::EvalInfix(const InfixExpr& infix, Scope& scope) {
  KILN_ASSIGN_OR_RETURN(Result left, Eval(*infix.operands[0], scope));
  for (size_t i = 0; i < infix.operators.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Result right, Eval(*infix.operands[i + 1], scope));
    KILN_ASSIGN_OR_RETURN(left,
                          CallOperator(infix.operators[i], {std::move(left), std::move(right)}, {},
                                       infix.positions[i]));
  }
  return left;
}

absl::StatusOr<Result> Elaborator::EvalIf(const IfExpr& branches, Position position, Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const Result condition, Eval(*branches.condition, scope));
  const ValueId* id = std::get_if<ValueId>(&condition);
  if (id == nullptr) {
    return Error(position, absl::StrCat("found ", DescribeResult(condition),
                                        " as the condition of 'if', wanted a scalar"));
  }
  if (!graph().is_constant(*id)) {
    return UnimplementedAt(
        file_name_, position,
        "'if' with a condition that is known only at run time is not supported; choose the branch "
        "before compiling, or compute both and select with where(condition, a, b)");
  }
  const Tensor& value = graph().value(*id).constant;
  if (value.type().rank() != 0) {
    return Error(position, absl::StrCat("found a condition of type ", value.type().ToString(),
                                        ", wanted a scalar"));
  }
  const Body& chosen = value.AsDouble(0) != 0 ? branches.then_body : branches.else_body;
  return EvalBody(chosen, *NewScope(&scope));
}

absl::StatusOr<Result> Elaborator::MakeTuple(std::vector<Result> fields, Position position) {
  auto tuple = std::make_shared<Tuple>();
  for (const Result& field : fields) {
    const auto* inner = std::get_if<std::shared_ptr<const Tuple>>(&field);
    tuple->size += inner == nullptr ? 1 : (*inner)->size;
    tuple->depth = std::max(tuple->depth, inner == nullptr ? 1 : (*inner)->depth + 1);
  }
  if (tuple->size > kMaxGraphNodes || tuple->depth > kMaxNestingDepth) {
    return Error(position,
                 absl::StrCat("found a tuple of more than ", kMaxGraphNodes,
                              " tensors or nested deeper than ", kMaxNestingDepth, " levels"));
  }
  tuple->fields = std::move(fields);
  return Result(std::shared_ptr<const Tuple>(std::move(tuple)));
}

}  // namespace kiln::relay
