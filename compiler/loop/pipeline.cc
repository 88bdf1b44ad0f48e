// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/pipeline.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

using Context = LoopPassContext;

// Applies the rewrite to the body of each function, as the `run` of a pass.
template <Stmt (*kRewrite)(const Stmt&)>
absl::Status OnBodies(LoopProgram& program, const Context&) {
  for (Func& func : program.funcs) func.body = kRewrite(func.body);
  return absl::OkStatus();
}
Stmt Simplified(const Stmt& s) { return Simplify(s); }

absl::Status Partition(LoopProgram& program, const Context& context) {
  for (Func& func : program.funcs) func.body = PartitionLoops(func.body, context.partition);
  return absl::OkStatus();
}

absl::Status Share(LoopProgram& program, const Context& context) {
  ShareFunctions(program, context.shares_numbers, context.shares_parts, context.shares_extents);
  return absl::OkStatus();
}

absl::Status Inline(LoopProgram& program, const Context& context) {
  if (!context.keeps_operators) InlineCalls(program);
  return absl::OkStatus();
}

// Expands the dots and vectors that the code generator has no spelling for.
Stmt Spelled(const Stmt& s, const Context& context) {
  if (context.keeps_dot == nullptr) return s;
  if (context.keeps_store == nullptr) return ExpandDots(s, context.keeps_dot);
  return ExpandVectors(ExpandDots(VectorizeDots(s, context.keeps_dot), context.keeps_dot),
                       context.keeps_store);
}

absl::Status Expand(LoopProgram& program, const Context& context) {
  for (Func& func : program.funcs) {
    const Stmt expanded = Spelled(func.body, context);
    if (expanded.get() != func.body.get()) func.body = Simplify(expanded);
  }
  return absl::OkStatus();
}

absl::Status Vectorize(LoopProgram& program, const Context& context) {
  for (Func& func : program.funcs) {
    func.body = VectorizeLoops(func.body, context.vector_bits(func), context.keeps_store);
  }
  return absl::OkStatus();
}

absl::Status Join(LoopProgram& program, const Context& context) {
  if (!context.small_loops.join) return absl::OkStatus();
  for (Func& func : program.funcs) func.body = JoinLoops(func.body);
  return absl::OkStatus();
}

absl::Status UnrollShort(LoopProgram& program, const Context& context) {
  UnrollShortLoops(program, context.small_loops);
  return absl::OkStatus();
}

absl::Status Outline(LoopProgram& program, const Context& context) {
  OutlineParallel(program, context.threads);
  return absl::OkStatus();
}

absl::Status WrongIn(const Func& func, absl::string_view what, const Stmt& s) {
  return absl::InternalError(
      absl::StrCat("function ", func.name, ": ", what, " in\n", ToString(s)));
}

absl::Status VerifyWellFormed(const LoopProgram& program, const Context&) {
  return VerifyProgram(program);
}

absl::Status VerifyFlat(const LoopProgram& program, const Context&) {
  for (const Func& func : program.funcs) {
    bool flat = true;
    const auto see = [&](const Buffer& buffer, const std::vector<Expr>& index) {
      flat = flat && index.size() == 1 && buffer->whole == nullptr;
    };
    VisitStmt(
        func.body,
        [&](const Expr& e) {
          if (const auto* load = e.As<Load>()) see(load->buffer, load->index);
        },
        [&](const Stmt& s) {
          if (const auto* store = s.As<Store>()) see(store->buffer, store->index);
        });
    if (!flat) return WrongIn(func, "an access that is not flat", func.body);
  }
  return absl::OkStatus();
}

template <ForKind kKind>
absl::Status VerifyNoLoops(const LoopProgram& program, const Context&) {
  for (const Func& func : program.funcs) {
    Stmt found;
    VisitStmt(func.body, nullptr, [&](const Stmt& s) {
      const auto* loop = s.As<For>();
      if (loop != nullptr && loop->kind == kKind) found = s;
    });
    if (found) return WrongIn(func, "such a loop", found);
  }
  return absl::OkStatus();
}

// Accepts code without branches that a constant decides and without loops of no iterations.
// Stronger claims would fail, because Simplify does not reach a fixed point.
absl::Status VerifySimplified(const LoopProgram& program, const Context&) {
  for (const Func& func : program.funcs) {
    Stmt found;
    VisitStmt(func.body, nullptr, [&](const Stmt& s) {
      int64_t value = 1;
      const auto* branch = s.As<If>();
      const auto* loop = s.As<For>();
      const bool decided = branch != nullptr && AsInt(branch->condition, &value);
      const bool empty = loop != nullptr && AsInt(loop->extent, &value) && value <= 0;
      if (decided || empty) found = s;
    });
    if (found) return WrongIn(func, "code that never runs", found);
  }
  return absl::OkStatus();
}

absl::Status VerifySpelledDots(const LoopProgram& program, const Context& context) {
  for (const Func& func : program.funcs) {
    const Stmt expanded = Spelled(func.body, context);
    if (expanded.get() != func.body.get()) {
      return WrongIn(func, "a dot or a vector without spelling", func.body);
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyShared(const LoopProgram& program, const Context& context) {
  LoopProgram shared = program;
  ShareFunctions(shared, context.shares_numbers, context.shares_parts, context.shares_extents);
  if (shared.funcs.size() == program.funcs.size()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("there are ", program.funcs.size(),
                                          " functions, of which sharing makes ",
                                          shared.funcs.size()));
}

absl::Status VerifyInlined(const LoopProgram& program, const Context& context) {
  if (context.keeps_operators) return absl::OkStatus();
  LoopProgram inlined = program;
  InlineCalls(inlined);
  if (inlined.funcs.size() == program.funcs.size()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(program.funcs.size() - inlined.funcs.size(),
                                          " functions only call another one"));
}

constexpr std::array kProperties = {
    PropertyOf<LoopProgram, Context>{kWellFormed, "the program is well formed",
                                     Verified::kAfterTheLast, VerifyWellFormed},
    PropertyOf<LoopProgram, Context>{kFlat, "all accesses are flat", Verified::kAfterTheLast,
                                     VerifyFlat},
    PropertyOf<LoopProgram, Context>{kSimplified, "all is simplified", Verified::kWhereAsked,
                                     VerifySimplified},
    PropertyOf<LoopProgram, Context>{kNoUnrolledLoops, "no unrolled loops are left",
                                     Verified::kAfterTheLast, VerifyNoLoops<ForKind::kUnrolled>},
    PropertyOf<LoopProgram, Context>{kShared, "functions that are alike are shared",
                                     Verified::kWhereAsked, VerifyShared},
    PropertyOf<LoopProgram, Context>{kNoVectorizedLoops, "no vectorized loops are left",
                                     Verified::kAfterTheLast, VerifyNoLoops<ForKind::kVectorized>},
    PropertyOf<LoopProgram, Context>{kNoParallelLoops, "no parallel loops are left",
                                     Verified::kAfterTheLast, VerifyNoLoops<ForKind::kParallel>},
    PropertyOf<LoopProgram, Context>{kSpelledDots, "the code generator spells all dots",
                                     Verified::kWhereAsked, VerifySpelledDots},
    PropertyOf<LoopProgram, Context>{kInlined, "shared functions are called directly",
                                     Verified::kWhereAsked, VerifyInlined},
};

constexpr Properties kAll = kWellFormed | kFlat | kSimplified | kNoUnrolledLoops | kShared |
                            kNoVectorizedLoops | kNoParallelLoops | kSpelledDots | kInlined;
constexpr Properties kEver = kWellFormed | kFlat | kNoUnrolledLoops;

constexpr std::array kPasses = {
    LoopPass{
        .name = "flatten-buffers",
        .doc =
            "gives every access one index in elements, and replaces slices by their whole buffers",
        .needs = 0,
        .gives = kWellFormed | kFlat,
        .keeps = 0,
        .optional = false,
        .run = OnBodies<FlattenBuffers>},
    LoopPass{.name = "simplify",
             .doc = "writes indices in their normal form, and decides conditions by the ranges of "
                    "variables",
             .needs = kFlat,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = OnBodies<Simplified>},
    LoopPass{.name = "partition-loops",
             .doc = "splits loops where guards change between true and false, so that interiors "
                    "have no guards",
             .needs = kFlat | kSimplified,
             .gives = 0,
             .keeps = kWellFormed | kFlat,
             .optional = true,
             .run = Partition},
    LoopPass{.name = "simplify-parts",
             .doc = "simplifies code by the ranges of the parts of loops",
             .needs = kFlat,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = OnBodies<Simplified>},
    LoopPass{.name = "unroll-loops",
             .doc = "writes out unrolled loops",
             .needs = kSimplified,
             .gives = kNoUnrolledLoops,
             .keeps = kWellFormed | kFlat,
             .optional = true,
             .run = OnBodies<UnrollLoops>},
    LoopPass{.name = "simplify-unrolled",
             .doc = "simplifies code in which constants have replaced variables",
             .needs = kFlat,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = OnBodies<Simplified>},
    LoopPass{.name = "share-functions",
             .doc = "gives one function to operators that differ only in their constants",
             .needs = kFlat | kSimplified | kNoUnrolledLoops,
             .gives = kShared,
             .keeps = kEver | kSimplified,
             .optional = true,
             .run = Share},
    LoopPass{.name = "inline-calls",
             .doc = "calls shared functions directly instead of through the operators' own, unless "
                    "these are kept",
             .needs = kFlat | kSimplified | kShared,
             .gives = kInlined,
             .keeps = kAll,
             .optional = true,
             .run = Inline},
    LoopPass{.name = "expand-dots",
             .doc = "expands dot products and vectors that the code generator cannot spell",
             .needs = kFlat | kSimplified | kShared | kInlined,
             .gives = kSpelledDots,
             .keeps = kEver | kSimplified,
             .optional = false,
             .run = Expand},
    LoopPass{.name = "join-loops",
             .doc = "makes one loop of two that go through neighboring elements",
             .needs = kFlat | kSimplified | kSpelledDots,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = Join},
    LoopPass{.name = "vectorize-loops",
             .doc = "turns vectorized loops into vectors, for a code generator with vectors",
             .needs = kFlat | kSimplified | kSpelledDots,
             .gives = kNoVectorizedLoops,
             .keeps = kEver | kSpelledDots,
             .optional = true,
             .run = Vectorize},
    LoopPass{.name = "simplify-vectors",
             .doc = "simplifies values that are the same in all lanes, and the remainders of loops",
             .needs = kFlat,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = OnBodies<Simplified>},
    LoopPass{.name = "unroll-short-loops",
             .doc = "writes out short loops, and several iterations of longer ones, where that "
                    "saves enough of the work of the program",
             .needs = kFlat | kSimplified,
             .gives = kSimplified,
             .keeps = kAll,
             .optional = true,
             .run = UnrollShort},
    LoopPass{.name = "outline-parallel",
             .doc = "turns parallel loops into tasks, or into serial loops for one thread",
             .needs = kSimplified | kNoVectorizedLoops,
             .gives = kNoParallelLoops,
             .keeps = kEver | kNoVectorizedLoops | kSpelledDots,
             .optional = false,
             .run = Outline},
};
constexpr Properties kGoal = kEver | kNoVectorizedLoops | kNoParallelLoops | kSpelledDots;
static_assert(OrderIsValid(kPasses, 0, kGoal),
              "a loop pass needs what the passes before it do not give");

// Numbers of passes up to the ends of the phases kKernel and kProgram.
constexpr size_t kKernelPasses = 6;
constexpr size_t kProgramPasses = 8;

size_t BeginOf(LoopPhase phase) {
  return phase == LoopPhase::kKernel    ? 0
         : phase == LoopPhase::kProgram ? kKernelPasses
                                        : kProgramPasses;
}

}  // namespace

std::function<int(const Func&)> AllOf(int vector_bits) {
  return [vector_bits](const Func&) { return vector_bits; };
}

absl::Span<const LoopPass> AllLoopPasses() { return kPasses; }

absl::Span<const PropertyOf<LoopProgram, LoopPassContext>> LoopProperties() { return kProperties; }

absl::Span<const LoopPass> PassesOf(LoopPhase phase) {
  const size_t begin = BeginOf(phase);
  const size_t end = phase == LoopPhase::kKernel    ? kKernelPasses
                     : phase == LoopPhase::kProgram ? kProgramPasses
                                                    : kPasses.size();
  return AllLoopPasses().subspan(begin, end - begin);
}

absl::Status RunLoopPasses(LoopPhase phase, const LoopPassRun& run, const LoopPassContext& context,
                           LoopProgram& program) {
  const Properties known = KnownAfter(AllLoopPasses().subspan(0, BeginOf(phase)), 0);
  return RunPassTable<LoopProgram, LoopPassContext>(PassesOf(phase), kProperties, known, run,
                                                    context, program);
}

std::vector<std::string> PassesBehind(LoopPhase phase, absl::string_view last) {
  std::vector<std::string> names;
  bool behind = false;
  for (const LoopPass& pass : PassesOf(phase)) {
    if (behind) names.push_back(pass.name);
    behind = behind || pass.name == last;
  }
  return names;
}

}  // namespace kiln::loop
