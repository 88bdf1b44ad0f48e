// SPDX-License-Identifier: Apache-2.0
#include "compiler/variants/variants.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/loop/mutate.h"
#include "compiler/target/cpu_variants.h"
#include "compiler/variants/merge_constants.h"

namespace kiln {
namespace {

// Gives function `i` of every variant the largest workspace that any of them needs.
void MergeWorkspaces(size_t i, std::vector<Lowered>& lowered) {
  loop::Buffer largest;
  for (const Lowered& variant : lowered) {
    const loop::Buffer& workspace = variant.program.funcs[i].workspace;
    if (workspace == nullptr) continue;
    if (largest == nullptr || workspace->num_bytes() > largest->num_bytes()) largest = workspace;
  }
  for (Lowered& variant : lowered) variant.program.funcs[i].workspace = largest;
}

// "x86-64-v2: contraction 4x1; x86-64-v3: contraction 6x2", or the schedule that all share.
std::string MergeSchedules(size_t call, const std::vector<Target>& targets,
                           const std::vector<Lowered>& lowered) {
  std::vector<std::string> texts;
  bool differ = false;
  for (size_t k = 0; k < lowered.size(); ++k) {
    const std::string& schedule = lowered[k].calls[call].schedule;
    differ = differ || schedule != lowered[0].calls[call].schedule;
    texts.push_back(absl::StrCat(targets[k].name, ": ", schedule));
  }
  return differ ? absl::StrJoin(texts, "; ") : lowered[0].calls[call].schedule;
}

absl::Status CheckSameFunctions(const std::vector<Lowered>& lowered) {
  const auto same = [](const loop::Func& a, const loop::Func& b) { return a.name == b.name; };
  for (const Lowered& variant : lowered) {
    const auto &found = variant.program.funcs, &wanted = lowered[0].program.funcs;
    if (!std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(), same) ||
        variant.calls.size() != lowered[0].calls.size()) {
      return absl::InternalError("lowering makes other functions of a graph for another target");
    }
  }
  return absl::OkStatus();
}

loop::Expr HasAll(const loop::Buffer& words, const std::vector<const CpuFeature*>& features) {
  loop::Expr all = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
  for (const auto& [word, wanted] : BitsOf(features)) {
    const loop::Expr bits = loop::Const(DType::UInt(32), wanted);
    const loop::Expr found = loop::MakeLoad(words, {loop::Expr(static_cast<int>(word))});
    all = all && (loop::MakeBinary(loop::BinaryOp::kAnd, found, bits) == bits);
  }
  return all;
}

// CpuChoice::decide. The function stores the last variant whose features the CPU has all of, or
// else the first feature of variant 0 that the CPU lacks.
absl::StatusOr<loop::Func> DecideFunction(const std::string& name,
                                          const std::vector<Target>& targets,
                                          const std::string& module_name,
                                          std::vector<std::string>* lacks) {
  const loop::Buffer words =
      loop::MakeBuffer("words", DType::UInt(32), {kNumCpuWords}, loop::BufferScope::kParam);
  const loop::Buffer choice =
      loop::MakeBuffer("choice", DType::Int(32), {1}, loop::BufferScope::kParam);
  const auto number = [](int64_t n) { return loop::IntConst(loop::Type::Of(DType::Int(32)), n); };
  KILN_ASSIGN_OR_RETURN(const auto baseline, CpuFeaturesOf(targets[0]));
  loop::Expr result = number(1);
  for (size_t i = baseline.size(); i-- > 0;) {
    result = loop::MakeSelect(HasAll(words, {baseline[i]}), result,
                              number(-1 - static_cast<int64_t>(i)));
  }
  for (const CpuFeature* feature : baseline) {
    lacks->push_back(absl::StrCat(
        module_name, ": found a CPU without ", feature->name,
        feature->xcr0 == 0 ? "" : ", or a system that does not save its registers", ", wanted ",
        targets[0].name, targets.size() > 1 ? " or one that has more" : ""));
  }
  for (size_t k = 1; k < targets.size(); ++k) {
    KILN_ASSIGN_OR_RETURN(const auto features, CpuFeaturesOf(targets[k]));
    result = loop::MakeSelect(HasAll(words, features), number(static_cast<int64_t>(k) + 1), result);
  }
  loop::Func func;
  func.name = name;
  func.params = {words, choice};
  func.num_inputs = 1;
  func.exported = false;
  func.body = loop::MakeStore(choice, {loop::Expr(0)}, result);
  return func;
}

// Returns `body` with each call of a function in `split` replaced by a call of the variant's copy.
loop::Stmt CallVariant(const loop::Stmt& body, const std::set<std::string>& split,
                       const std::string& variant) {
  return loop::MutateStmt(body, [&](const loop::Stmt& s) {
    const auto* call = s.As<loop::Call>();
    if (call == nullptr || split.count(call->function) == 0) return s;
    return loop::MakeCall(VariantName(call->function, variant), call->args, call->profile_index);
  });
}

bool CallsOneOf(const loop::Stmt& body, const std::set<std::string>& functions) {
  bool calls = false;
  if (!body) return calls;
  loop::VisitStmt(body, nullptr, [&](const loop::Stmt& s) {
    const auto* call = s.As<loop::Call>();
    calls = calls || (call != nullptr && functions.count(call->function) != 0);
  });
  return calls;
}

// True for a part of the model's function (loop::SplitCalls).
bool IsPart(const loop::Func& func) {
  return func.kind == loop::Func::Kind::kOperator && !func.exported;
}

// The body of `func` that asks for the variant and calls it with all that `func` takes.
loop::Stmt Dispatch(const loop::Func& func, absl::Span<const std::string> variants,
                    const std::string& choose) {
  std::vector<loop::Argument> args;
  for (const loop::Buffer& param : func.params) args.push_back({param, loop::Expr(0)});
  if (func.workspace != nullptr) args.push_back({func.workspace, loop::Expr(0)});
  const loop::Buffer chosen =
      loop::MakeBuffer("cpu_variant", DType::Int(32), {1}, loop::BufferScope::kLocal);
  const loop::Expr found = loop::MakeLoad(chosen, {loop::Expr(0)});
  loop::Stmt run;
  for (size_t k = variants.size(); k-- > 0;) {
    loop::Stmt call = loop::MakeCall(VariantName(func.name, variants[k]), args);
    const loop::Expr number =
        loop::IntConst(loop::Type::Of(DType::Int(32)), static_cast<int64_t>(k) + 1);
    run = run ? loop::MakeIf(found == number, std::move(call), std::move(run)) : std::move(call);
  }
  return loop::MakeAllocate(
      chosen, loop::MakeBlock({loop::MakeCall(choose, {{chosen, loop::Expr(0)}}), run}));
}

}  // namespace

absl::StatusOr<LoweredVariants> LowerVariants(const Graph& fused,
                                              const std::vector<Target>& targets,
                                              const LowerOptions& options,
                                              std::vector<KnownKernels>& known) {
  std::vector<Lowered> lowered;
  for (size_t k = 0; k < targets.size(); ++k) {
    KILN_ASSIGN_OR_RETURN(lowered.emplace_back(), Lower(fused, targets[k], options, known[k]));
  }
  LoweredVariants result;
  KILN_RETURN_IF_ERROR(CheckSameFunctions(lowered));
  std::vector<std::string> names;
  std::vector<loop::LoopProgram*> programs;
  for (size_t k = 0; k < lowered.size(); ++k) {
    names.push_back(targets[k].name);
    programs.push_back(&lowered[k].program);
  }
  lowered.back().program.constants = MergeConstants(names, programs);
  if (lowered.size() > 1) {
    for (size_t i = 0; i < lowered[0].program.funcs.size(); ++i) MergeWorkspaces(i, lowered);
    Lowered& common = lowered.back();
    for (size_t i = 0; i < common.calls.size(); ++i) {
      common.calls[i].schedule = MergeSchedules(i, targets, lowered);
      for (const Lowered& variant : lowered) {
        int64_t& bytes = common.calls[i].workspace_bytes;
        bytes = std::max(bytes, variant.calls[i].workspace_bytes);
      }
    }
  }
  for (const Lowered& variant : lowered) result.funcs.push_back(variant.program.funcs);
  result.common = std::move(lowered.back());
  return result;
}

absl::Status AddCpuChoice(const std::vector<Target>& targets, const std::string& module_name,
                          const std::string& get, const std::string& set, bool packed,
                          loop::LoopProgram& program) {
  const std::string prefix = ModulePrefix(module_name);
  loop::CpuChoice choice{.function = prefix + "_choose_cpu_variant",
                         .get = get,
                         .set = set,
                         .packed = packed,
                         .decide = prefix + "_decide_cpu_variant"};
  program.targets = {PlainTarget(targets).name};
  for (const Target& target : targets) {
    program.targets.push_back(target.name);
    choice.refusals.push_back(absl::StrCat(
        module_name, ": found a CPU that lacks what ", target.name,
        " needs, wanted the CPU variant that it runs by itself or one that needs less"));
  }
  choice.unknown = absl::StrCat(module_name, ": found the name of no CPU variant, wanted one of ",
                                absl::StrJoin(program.cpu_variants(), ", "));
  KILN_ASSIGN_OR_RETURN(loop::Func decide,
                        DecideFunction(choice.decide, targets, module_name, &choice.lacks));
  loop::Func choose;
  choose.name = choice.function;
  choose.kind = loop::Func::Kind::kExternal;
  choose.params = {loop::MakeBuffer("choice", DType::Int(32), {1}, loop::BufferScope::kParam)};
  choose.exported = false;
  program.funcs.insert(program.funcs.begin(), {std::move(decide), std::move(choose)});
  program.cpu_choice = std::move(choice);
  return absl::OkStatus();
}

void SplitByVariant(const LoweredVariants& variants, loop::LoopProgram& program) {
  const std::vector<std::string> names(program.cpu_variants().begin(),
                                       program.cpu_variants().end());
  std::map<std::string, size_t> operators;
  for (size_t i = 0; i < variants.funcs[0].size(); ++i) {
    const loop::Func& func = variants.funcs[0][i];
    if (func.kind != loop::Func::Kind::kExternal) operators[func.name] = i;
  }
  std::set<std::string> split;  // functions that exist only once per variant
  std::vector<loop::Func> funcs;
  for (loop::Func& func : program.funcs) {
    const auto found = operators.find(func.name);
    const bool is_operator = found != operators.end();
    const bool calls = !is_operator && CallsOneOf(func.body, split);
    // A function that only the program calls needs no dispatcher: its callers are duplicated, too.
    const bool dispatches = is_operator ? func.exported : calls && !IsPart(func);
    for (size_t k = 0; (is_operator || calls) && k < names.size(); ++k) {
      loop::Func variant = func;
      variant.name = VariantName(func.name, names[k]);
      variant.target = static_cast<int>(k) + 1;
      variant.exported = false;
      variant.body = is_operator ? variants.funcs[k][found->second].body
                                 : CallVariant(func.body, split, names[k]);
      if (is_operator) variant.params = variants.funcs[k][found->second].params;
      if (dispatches) {
        // The dispatcher has unpacked the arguments.
        variant.convention = loop::Convention::kUnpacked;
        variant.by_name = variant.allocate_workspace = false;
      }
      funcs.push_back(std::move(variant));
    }
    if ((is_operator || calls) && !dispatches) {
      split.insert(func.name);
      continue;
    }
    if (dispatches) func.body = Dispatch(func, names, program.cpu_choice->function);
    funcs.push_back(std::move(func));
  }
  program.funcs = std::move(funcs);
}

}  // namespace kiln
