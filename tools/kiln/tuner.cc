// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/tuner.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status.h"
#include "compiler/lower/kernel.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/measured_library.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxCandidates = 40;
// A candidate becomes the best one if its time is below this fraction of the previous best time.
constexpr double kBetter = 0.99;
// It is accepted if its time is below this fraction of the time of the model's choice in every
// round.
constexpr double kTaken = 0.98;
constexpr int kRounds = 3;
constexpr double kComparisonSeconds = 0.08, kRoundSeconds = 0.15;
// Durations of each measurement of the whole model.
constexpr double kMinModelSeconds = 0.5, kModelShare = 0.08;

// A contraction, which may occur several times in the model.
struct Problem {
  std::string text;
  const Node* node = nullptr;  // the first one in the fused graph
  std::vector<std::string> functions;
  std::vector<ContractionChoice> candidates;
  double seconds = 0;  // in a run of the model
  TunedContraction tuned;
  bool is_measured = false;
};

class Tuner {
 public:
  Tuner(const Graph& graph, const TunerOptions& options)
      : graph_(graph),
        options_(options),
        compile_(options.compile),
        target_(EffectiveTargets(options.compile).front()),
        begin_(Clock::now()) {
    compile_.module_name = "tuned";
    compile_.profile = true;
    compile_.schedule.tuning = nullptr;
  }

  absl::StatusOr<TuningResult> Run() {
    Progress("compiling the model");
    KILN_RETURN_IF_ERROR(ReadProblems());
    KILN_RETURN_IF_ERROR(Search());
    if (!options_.stopped()) KILN_RETURN_IF_ERROR(CheckWholeModel());
    result_.tuned = TunedTarget::For(target_);
    result_.num_contractions = problems_.size();
    for (Problem& problem : problems_) {
      if (!problem.is_measured) continue;
      if (problem.tuned.choice.has_value()) ++result_.num_better;
      result_.tuned.contractions[problem.text] = problem.tuned;
    }
    return std::move(result_);
  }

 private:
  double Elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void Progress(const std::string& what) const {
    options_.progress(std::min(Elapsed() / options_.seconds, 1.0), what);
  }
  double ModelSeconds() const { return std::max(kMinModelSeconds, kModelShare * options_.seconds); }

  // Compiles and profiles the unchanged model.
  absl::Status ReadProblems() {
    CompileOptions listing = compile_;
    listing.schedule.max_candidates = kMaxCandidates;
    KILN_ASSIGN_OR_RETURN(Compilation compilation, RunStages(graph_, listing));
    fused_ = std::move(compilation.fused);
    KILN_ASSIGN_OR_RETURN(model_, MeasuredLibrary::Make(graph_, listing));
    compile_seconds_ = Elapsed();
    KILN_ASSIGN_OR_RETURN(const OperatorComparison times,
                          CompareOperators(*model_, *model_, ModelSeconds() / 2));
    std::map<std::string, size_t> known;
    const Lowered& lowered = model_->lowered();
    for (const Call& call : lowered.calls) {
      const auto contraction = lowered.contractions.find(call.function);
      if (contraction == lowered.contractions.end()) continue;
      const std::string& text = contraction->second.problem;
      const auto [at, is_new] = known.emplace(text, problems_.size());
      if (is_new) {
        const NodeId node = fused_.value(call.outputs[0]).node;
        Problem& problem = problems_.emplace_back();
        problem.text = text;
        problem.node = &fused_.node(node);
        problem.candidates = contraction->second.candidates;
        AddChoiceOfBefore(contraction->second.choice, problem);
      }
      Problem& problem = problems_[at->second];
      problem.functions.push_back(call.function);
      problem.seconds += Of(times.first_seconds, call.function);
    }
    for (Problem& problem : problems_) {
      const auto calls = static_cast<double>(problem.functions.size());
      problem.tuned.default_microseconds = problem.seconds / calls * 1e6;
      problem.tuned.microseconds = problem.tuned.default_microseconds;
    }
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.seconds > b.seconds; });
    return absl::OkStatus();
  }

  void AddChoiceOfBefore(const ContractionChoice& models, Problem& problem) const {
    if (options_.before == nullptr) return;
    const auto found = options_.before->contractions.find(problem.text);
    if (found == options_.before->contractions.end() || !found->second.choice.has_value() ||
        *found->second.choice == models) {
      return;
    }
    std::erase(problem.candidates, *found->second.choice);
    problem.candidates.insert(problem.candidates.begin(), *found->second.choice);
  }

  // Measures all problems. Each gets a share of the time.
  absl::Status Search() {
    const double end =
        options_.seconds - 2 * compile_seconds_ - 2 * ModelSeconds() - kRounds * kRoundSeconds;
    double weight = 0;
    for (const Problem& problem : problems_) weight += problem.seconds;
    for (size_t i = 0; i < problems_.size() && !options_.stopped(); ++i) {
      Problem& problem = problems_[i];
      const double share = weight > 0 ? problem.seconds / weight : 1;
      weight -= problem.seconds;
      const double now = Elapsed();
      if (now >= end && i > 0) break;
      KILN_RETURN_IF_ERROR(SearchOne(i, now + (end - now) * share));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<MeasuredLibrary> MakeAlone(const Problem& problem,
                                            const std::optional<ContractionChoice>& choice) const {
    CompileOptions options = compile_;
    options.profile = false;
    options.externals.clear();
    options.passes.disabled.clear();
    for (const Pass& pass : AllPasses()) {
      if (pass.optional) options.passes.disabled.emplace_back(pass.name);
    }
    options.schedule.tuning = TuningOf({{problem.text, {.choice = choice}}});
    return MeasuredLibrary::Make(BodyOfNode(fused_, *problem.node), options);
  }

  std::shared_ptr<const Tuning> TuningOf(
      std::map<std::string, TunedContraction> contractions) const {
    auto tuning = std::make_shared<Tuning>();
    tuning->file = options_.file;
    tuning->FindOrAdd(target_).contractions = std::move(contractions);
    return tuning;
  }

  absl::Status SearchOne(size_t index, double end) {
    Problem& problem = problems_[index];
    const std::string where = absl::StrCat("contraction ", index + 1, " of ", problems_.size());
    Progress(where);
    const CompareOptions quick = {.seconds = kComparisonSeconds,
                                  .evicted_bytes = static_cast<size_t>(2 * target_.l2_bytes)};
    KILN_ASSIGN_OR_RETURN(const MeasuredLibrary model, MakeAlone(problem, std::nullopt));
    const Lowered& lowered = model.lowered();
    // Compiled alone, the problem may become a different one. Its measurements would then be
    // meaningless.
    if (lowered.calls.size() != 1 || lowered.contractions.empty() ||
        lowered.contractions.begin()->second.problem != problem.text) {
      return absl::OkStatus();
    }
    std::optional<MeasuredLibrary> best;
    std::optional<ContractionChoice> choice;
    const double confirming = kRounds * kRoundSeconds;
    for (const ContractionChoice& candidate : problem.candidates) {
      // At least one candidate is measured, no matter how short the time is.
      const bool late = result_.num_choices > 0 && Elapsed() + confirming >= end;
      if (options_.stopped() || late) break;
      Progress(absl::StrCat(where, ", ", result_.num_choices, " choices measured"));
      KILN_ASSIGN_OR_RETURN(MeasuredLibrary other, MakeAlone(problem, candidate));
      KILN_ASSIGN_OR_RETURN(const Comparison times,
                            Compare(best.has_value() ? *best : model, other, quick));
      ++result_.num_choices;
      problem.is_measured = true;
      if (times.second_seconds >= kBetter * times.first_seconds) continue;
      best = std::move(other);
      choice = candidate;
    }
    if (!problem.is_measured) return absl::OkStatus();
    if (best.has_value()) {
      KILN_RETURN_IF_ERROR(Confirm(model, *best, *choice, quick.evicted_bytes, problem));
    }
    Report(where, problem, lowered.calls[0].schedule,
           best.has_value() ? best->lowered().calls.front().schedule : "");
    return absl::OkStatus();
  }

  // Accepts the choice if it wins every round.
  absl::Status Confirm(const MeasuredLibrary& model, const MeasuredLibrary& best,
                       const ContractionChoice& choice, size_t evicted_bytes, Problem& problem) {
    Comparison last;
    for (int round = 0; round < kRounds; ++round) {
      KILN_ASSIGN_OR_RETURN(
          last, Compare(model, best, {.seconds = kRoundSeconds, .evicted_bytes = evicted_bytes}));
      if (last.second_seconds > kTaken * last.first_seconds) return absl::OkStatus();
    }
    problem.tuned = {.choice = choice,
                     .default_microseconds = last.first_seconds * 1e6,
                     .microseconds = last.second_seconds * 1e6};
    return absl::OkStatus();
  }

  void Report(const std::string& where, const Problem& problem, const std::string& schedule,
              const std::string& best) const {
    const TunedContraction& tuned = problem.tuned;
    if (!tuned.choice.has_value()) {
      options_.report(absl::StrCat(where, ": ", schedule, " stays"));
      return;
    }
    options_.report(absl::StrFormat("%s: %s, %.1f microseconds, instead of %s, %.1f", where, best,
                                    tuned.microseconds, schedule, tuned.default_microseconds));
  }

  static double Of(const std::map<std::string, double>& seconds, const std::string& function) {
    const auto found = seconds.find(function);
    return found == seconds.end() ? 0 : found->second;
  }

  bool HasChoice() const {
    return std::any_of(problems_.begin(), problems_.end(),
                       [](const Problem& problem) { return problem.tuned.choice.has_value(); });
  }

  absl::StatusOr<MeasuredLibrary> MakeTuned() const {
    CompileOptions options = compile_;
    std::map<std::string, TunedContraction> contractions;
    for (const Problem& problem : problems_) contractions[problem.text] = problem.tuned;
    options.schedule.tuning = TuningOf(std::move(contractions));
    return MeasuredLibrary::Make(graph_, options);
  }

  // Drops choices that are not faster within the model, and all choices if the model is not faster.
  absl::Status CheckWholeModel() {
    if (!HasChoice()) {
      KILN_RETURN_IF_ERROR(CompareWithItself());
      return absl::OkStatus();
    }
    Progress("measuring the whole model");
    KILN_ASSIGN_OR_RETURN(MeasuredLibrary tuned, MakeTuned());
    KILN_ASSIGN_OR_RETURN(const OperatorComparison times,
                          CompareOperators(*model_, tuned, ModelSeconds()));
    if (DropSlower(times)) {
      if (!HasChoice()) return CompareWithItself();
      KILN_ASSIGN_OR_RETURN(tuned, MakeTuned());
    }
    KILN_ASSIGN_OR_RETURN(const Comparison whole,
                          Compare(*model_, tuned, {.seconds = ModelSeconds()}));
    result_.compared = true;
    result_.default_ms = whole.first_seconds * 1e3;
    result_.tuned_ms = whole.second_seconds * 1e3;
    if (whole.second_seconds < whole.first_seconds) return absl::OkStatus();
    result_.tuned_ms = result_.default_ms;
    for (Problem& problem : problems_) problem.tuned.choice.reset();
    return absl::OkStatus();
  }

  absl::Status CompareWithItself() {
    KILN_ASSIGN_OR_RETURN(const Comparison whole,
                          Compare(*model_, *model_, {.seconds = kMinModelSeconds}));
    result_.compared = true;
    result_.default_ms = result_.tuned_ms = whole.first_seconds * 1e3;
    return absl::OkStatus();
  }

  // Drops choices that are slower within the model. Returns true if there were any. Records the
  // times within the model.
  bool DropSlower(const OperatorComparison& times) {
    bool dropped = false;
    for (Problem& problem : problems_) {
      double before = 0, after = 0;
      for (const std::string& function : problem.functions) {
        before += Of(times.first_seconds, function);
        after += Of(times.second_seconds, function);
      }
      const auto calls = static_cast<double>(problem.functions.size());
      problem.tuned.default_microseconds = before / calls * 1e6;
      problem.tuned.microseconds = problem.tuned.default_microseconds;
      if (!problem.tuned.choice.has_value()) continue;
      problem.tuned.microseconds = after / calls * 1e6;
      if (after < before) continue;
      problem.tuned.choice.reset();
      problem.tuned.microseconds = problem.tuned.default_microseconds;
      dropped = true;
    }
    return dropped;
  }

  const Graph& graph_;
  const TunerOptions& options_;
  CompileOptions compile_;
  Target target_;
  Clock::time_point begin_;
  double compile_seconds_ = 0;
  Graph fused_;  // problem.node points into it
  std::optional<MeasuredLibrary> model_;
  std::vector<Problem> problems_;  // those with the longest time first
  TuningResult result_;
};

}  // namespace

absl::StatusOr<TuningResult> TuneModel(const Graph& graph, const TunerOptions& options) {
  return Tuner(graph, options).Run();
}

}  // namespace kiln::tools
