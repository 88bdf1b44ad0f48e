// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/loop/pipeline.h"
#include "compiler/schedule/contraction_choice.h"
#include "compiler/schedule/contraction_facts.h"
#include "compiler/schedule/families.h"
#include "compiler/schedule/fixed_point.h"
#include "compiler/schedule/register_tile.h"
#include "compiler/schedule/window.h"
#include "compiler/schedule/workspace.h"
#include "compiler/target/float_units.h"

namespace kiln {
namespace {

using loop::Buffer;
using loop::Expr;
using loop::Stage;
using loop::Stmt;

// Returns the constants that the statement reads.
std::vector<loop::Constant> UsedConstants(const Stmt& body, std::vector<loop::Constant> constants) {
  std::vector<Buffer> used;
  loop::VisitStmt(body, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load != nullptr && load->buffer->scope == loop::BufferScope::kConstant) {
      used.push_back(load->buffer);
    }
  });
  std::erase_if(constants, [&](const loop::Constant& c) {
    return std::find(used.begin(), used.end(), c.buffer) == used.end();
  });
  return constants;
}

// True if two forms in `axes` have the same coefficients for all axes with several elements.
bool WalkAlike(const std::vector<loop::Axis>& axes, const loop::LinearForm& a,
               const loop::LinearForm& b) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].extent > 1 && a.coefficients[i] != b.coefficients[i]) return false;
  }
  return true;
}

// Returns pairs of an input and an output that may be written over it. Only the stage that stores
// the output reads the input, each element at its own place. Neither is a slice, because the rest
// of its whole buffer must stay.
std::vector<std::pair<int, int>> InPlacePairs(const loop::Kernel& kernel) {
  std::vector<std::pair<int, int>> pairs;
  for (size_t o = 0; o < kernel.outputs.size(); ++o) {
    for (size_t k = 0; k < kernel.inputs.size(); ++k) {
      if (kernel.inputs[k]->whole != nullptr || kernel.outputs[o]->whole != nullptr ||
          kernel.inputs[k]->dtype != kernel.outputs[o]->dtype ||
          kernel.inputs[k]->num_elements() != kernel.outputs[o]->num_elements()) {
        continue;
      }
      bool ok = true;
      for (const Stage& stage : kernel.stages) {
        loop::Bounds bounds;
        schedule::AddBounds(stage.axes, bounds);
        std::vector<loop::Var> vars = schedule::VarsOfAxes(stage.axes);
        loop::LinearForm store;
        const bool stores = stage.buffer == kernel.outputs[o];
        const bool linear =
            loop::AsLinear(schedule::FlatIndex(stage.buffer, stage.index, bounds), vars, &store);
        for (const Expr& index : stage.index) {
          loop::VisitExpr(index, [&](const Expr& e) {
            const auto* load = e.As<loop::Load>();
            ok &= load == nullptr || load->buffer != kernel.inputs[k];
          });
        }
        loop::VisitExpr(stage.value, [&](const Expr& e) {
          const auto* load = e.As<loop::Load>();
          if (load == nullptr || load->buffer != kernel.inputs[k]) return;
          loop::LinearForm read;
          ok &=
              stores && linear && stage.combine == loop::Combine::kNone &&
              loop::AsLinear(schedule::FlatIndex(load->buffer, load->index, bounds), vars, &read) &&
              WalkAlike(stage.axes, read, store) && loop::IsInt(read.base, 0) &&
              loop::IsInt(store.base, 0);
        });
      }
      if (ok) pairs.emplace_back(static_cast<int>(k), static_cast<int>(o));
    }
  }
  return pairs;
}

// Appends the parameters of `buffers`, each once. The parameter of a slice is its whole buffer.
// Returns the position of every buffer's parameter among the appended ones.
std::vector<int> AddParams(const std::vector<Buffer>& buffers, std::vector<Buffer>& params) {
  const auto begin = static_cast<std::ptrdiff_t>(params.size());
  std::vector<int> numbers;
  for (const Buffer& buffer : buffers) {
    const Buffer& param = buffer->whole == nullptr ? buffer : buffer->whole;
    const auto found = std::find(params.begin() + begin, params.end(), param);
    numbers.push_back(static_cast<int>(found - params.begin() - begin));
    if (found == params.end()) params.push_back(param);
  }
  return numbers;
}

// Returns each stage as a contraction, or nothing for other stages.
schedule::Contractions ContractionsOf(const loop::Kernel& kernel, const Target& target) {
  schedule::Contractions contractions;
  for (const Stage& stage : kernel.stages) {
    contractions.push_back(schedule::AsContraction(stage, target));
  }
  return contractions;
}

bool HasUpdateOrRanks(const loop::Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) {
    return stage.update || stage.rank_axis.has_value();
  });
}

// Returns a separate nest for every stage. Updates run in order, on one thread.
Stmt SeparateNests(const loop::Kernel& kernel, schedule::Context& context) {
  std::vector<Stmt> nests;
  std::string description = "update";
  for (const Stage& stage : kernel.stages) {
    if (stage.update) {
      nests.push_back(schedule::Nest(stage.axes, loop::ForKind::kSerial, loop::StoreOf(stage)));
    } else if (stage.rank_axis.has_value()) {
      context.workspace.push_back(stage.buffer);
      nests.push_back(schedule::RankNest(stage, context));
      description = context.description;
    } else {
      nests.push_back(schedule::StageNest(kernel, stage, context));
    }
  }
  context.description = description;
  return loop::MakeBlock(std::move(nests));
}

bool HasReduction(const loop::Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.combine != loop::Combine::kNone; });
}

// Returns the choice of the tuning for the problem; nothing if it leaves the choice to the model.
absl::StatusOr<std::optional<ContractionChoice>> TunedChoice(
    const schedule::ContractionProblem& problem, const ScheduleOptions& options,
    const Target& target) {
  const TunedTarget* tuned = options.tuning == nullptr ? nullptr : options.tuning->Find(target);
  if (tuned == nullptr) return std::nullopt;
  const auto found = tuned->contractions.find(problem.text);
  if (found == tuned->contractions.end() || !found->second.choice.has_value()) return std::nullopt;
  const ContractionChoice& choice = *found->second.choice;
  const bool switched_off =
      choice.algorithm == ContractionChoice::Algorithm::kWinograd && !options.winograd;
  if (switched_off) return std::nullopt;
  KILN_RETURN_IF_ERROR(Annotate(schedule::CheckChoice(problem, choice, target),
                                absl::StrCat(options.tuning->file, ": target '", tuned->name,
                                             "': contraction '", problem.text, "': ")));
  return choice;
}

// Returns the loops of a kernel whose stages[which] is computed directly, as its plan says.
absl::StatusOr<Stmt> DirectNest(const loop::Kernel& kernel, size_t which,
                                schedule::TiledContraction merged, const ContractionChoice& choice,
                                absl::string_view problem, const ScheduleOptions& options,
                                schedule::Context& context) {
  const int64_t cost = schedule::Cost(kernel.stages[which], context.target);
  schedule::ContractionPlan plan = schedule::PlanContraction(merged, choice, cost, context);
  if (options.replan) plan = options.replan(plan);
  KILN_RETURN_IF_ERROR(schedule::CheckPlan(merged, plan, context));
  context.Note(absl::StrCat("contraction ", problem));
  context.Note(schedule::Text(plan));
  return schedule::ContractionNest(kernel, which, std::move(merged), plan, context);
}

// Returns the loops of a kernel with a contraction.
absl::StatusOr<Stmt> BuildContraction(schedule::ContractionFacts& facts,
                                      const ScheduleOptions& options, schedule::Context& context,
                                      std::optional<ScheduledContraction>& scheduled) {
  const Target& target = context.target;
  const loop::Kernel& kernel = facts.kernel();
  const size_t which = facts.which();
  std::optional<schedule::TiledContraction> merged = schedule::MergeContraction(facts, context);
  std::optional<schedule::ContractionProblem> problem;
  if (merged.has_value()) {
    problem = schedule::AsContractionProblem(*merged, kernel, which, context);
  }
  if (!merged.has_value()) return schedule::ColumnlessNest(kernel, which, context);
  if (!problem.has_value()) {
    return DirectNest(kernel, which, *std::move(merged), {}, "", options, context);
  }
  KILN_ASSIGN_OR_RETURN(const std::optional<ContractionChoice> tuned,
                        TunedChoice(*problem, options, target));
  if (!options.winograd) problem->winograd.reset();
  const ContractionChoice choice =
      tuned.has_value() ? *tuned : schedule::ChooseContraction(*problem, target);
  scheduled = {
      .problem = problem->text,
      .choice = choice,
      .tuned = tuned.has_value(),
      .candidates = schedule::ListContractionChoices(*problem, target, options.max_candidates)};
  Stmt nest;
  if (choice.algorithm == ContractionChoice::Algorithm::kWinograd) {
    const schedule::SumOrder order{.kind = schedule::SumOrder::Kind::kWinograd,
                                   .outputs = choice.outputs,
                                   .fused = FusesMultiplyAdd(target, kF32)};
    context.Note(absl::StrCat("contraction ", problem->text));
    context.Note(absl::StrCat("tile ", choice.rows, "x", choice.vectors, ", blocks of ",
                              choice.block_rows, " rows of tiles, sums ", schedule::Text(order)));
    nest = schedule::WinogradNest(kernel, which, *problem->winograd, choice, context);
  } else {
    KILN_ASSIGN_OR_RETURN(nest, DirectNest(kernel, which, *std::move(merged), choice, problem->text,
                                           options, context));
  }
  if (tuned.has_value()) absl::StrAppend(&context.description, " tuned");
  return nest;
}

absl::StatusOr<Stmt> Build(loop::Kernel& kernel, const ScheduleOptions& options,
                           schedule::Context& context,
                           std::optional<ScheduledContraction>& scheduled) {
  // The families require outputs that are not all empty.
  if (std::all_of(kernel.outputs.begin(), kernel.outputs.end(),
                  [](const Buffer& output) { return output->num_elements() == 0; })) {
    return Stmt();
  }
  if (options.naive) return schedule::NaiveSchedule(kernel, context);
  if (HasUpdateOrRanks(kernel)) return SeparateNests(kernel, context);
  const std::optional<schedule::Window> window = schedule::FindWindow(kernel, context);
  schedule::InlineStages(kernel, context.target);
  schedule::ShortenFixedPoint(kernel, context);
  if (window.has_value()) {
    if (std::optional<Stmt> nest = schedule::WindowNest(kernel, *window, context)) return *nest;
  }
  const schedule::Contractions contractions = ContractionsOf(kernel, context.target);
  if (schedule::HasSharedRows(kernel, contractions, context.target)) {
    return schedule::SharedRowsNest(kernel, context);
  }
  const auto found = std::find_if(contractions.begin(), contractions.end(),
                                  [](const auto& c) { return c.has_value(); });
  if (found != contractions.end()) {
    const auto which = static_cast<size_t>(found - contractions.begin());
    schedule::ContractionFacts facts(kernel, which, **found);
    const bool by_dots = facts.Dot(schedule::RowSource::kData, context).has_value();
    if (!by_dots && schedule::StorePlanes(kernel, which, context.target)) {
      const auto planes = schedule::AsContraction(kernel.stages[which], context.target);
      facts = {kernel, which, planes.value_or(**found)};
    }
    return BuildContraction(facts, options, context, scheduled);
  }
  if (HasReduction(kernel)) {
    const std::optional<Stmt> by_axis = schedule::WindowsByAxis(kernel, context);
    return by_axis.has_value() ? *by_axis : schedule::ReductionNest(kernel, context);
  }
  std::vector<Stmt> nests;
  for (const Stage& stage : kernel.stages) {
    if (stage.buffer->scope == loop::BufferScope::kWorkspace) {
      context.workspace.push_back(stage.buffer);
    }
    nests.push_back(schedule::PointwiseNest(stage, context));
  }
  return loop::MakeBlock(std::move(nests));
}

// Runs the loop passes over a kernel's function.
absl::Status RunPasses(const ScheduleOptions& options, const schedule::Context& context,
                       loop::Func& func) {
  loop::LoopPassRun run = options.passes;
  if (options.naive) run.disabled.push_back("partition-loops");
  loop::LoopProgram program;
  program.constants = context.constants;
  program.funcs.push_back(std::move(func));
  KILN_RETURN_IF_ERROR(loop::RunLoopPasses(loop::LoopPhase::kKernel, run,
                                           {.partition = context.code.partition}, program));
  func = std::move(program.funcs[0]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Scheduled> ScheduleKernel(const loop::Kernel& original, const Target& target,
                                         const ScheduleOptions& options,
                                         const std::optional<TensorMemory>& memory) {
  loop::Kernel kernel = original;
  schedule::Context context{
      .target = target,
      .constants = kernel.constants,
      .workspace = {},
      .description = {},
      .code = CodeShapeOf(target, options.optimize),
      .memory = memory,
      .bfloat16_products = options.bfloat16_products,
      .float_parts = options.optimize != Optimize::kSize && !target.by_c_compiler};
  Scheduled scheduled;
  KILN_ASSIGN_OR_RETURN(Stmt body, Build(kernel, options, context, scheduled.contraction));
  scheduled.func.name = kernel.name;
  const std::vector<int> inputs = AddParams(kernel.inputs, scheduled.func.params);
  scheduled.func.num_inputs = static_cast<int>(scheduled.func.params.size());
  const std::vector<int> outputs = AddParams(kernel.outputs, scheduled.func.params);
  for (const auto& [input, output] : InPlacePairs(kernel)) {
    scheduled.in_place.emplace_back(inputs[static_cast<size_t>(input)],
                                    outputs[static_cast<size_t>(output)]);
  }
  scheduled.func.in_place = !scheduled.in_place.empty();
  scheduled.func.body = std::move(body);
  schedule::PlaceWorkspace(context.workspace, target.buffer_alignment(), scheduled.func);
  KILN_RETURN_IF_ERROR(RunPasses(options, context, scheduled.func));
  scheduled.constants = UsedConstants(scheduled.func.body, std::move(context.constants));
  scheduled.description = context.description;
  scheduled.plans = std::move(context.plans);
  return scheduled;
}

}  // namespace kiln
