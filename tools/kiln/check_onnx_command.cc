// SPDX-License-Identifier: Apache-2.0
// kiln check-onnx
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "tools/judge/onnx_cases.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/processes.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kOutcomes[] = {"passed", "failed", "unsupported"};

struct CheckOnnxFlags {
  std::vector<std::string> folders;
  std::string codegen, executor = "aot", target = "host", filter;
  double rtol = 1e-3, atol = 1e-7;
  int jobs = 0, timeout_seconds = 120;
  bool json = false;
};

absl::StatusOr<CaseOptions> CaseOptionsOf(const CheckOnnxFlags& flags) {
  CaseOptions options;
  CompileOptions& o = options.compile;
  o.module_name = "check";
  o.codegen = DefaultCodegen();
  if (!flags.codegen.empty()) {
    KILN_ASSIGN_OR_RETURN(o.codegen, ParseSpelling<Codegen>(flags.codegen));
  }
  KILN_ASSIGN_OR_RETURN(o.executor, ParseSpelling<Executor>(flags.executor));
  KILN_ASSIGN_OR_RETURN(o.target, Target::Parse(flags.target));
  o.calling_convention = DefaultCallingConvention(o.runtime, o.interface);
  KILN_RETURN_IF_ERROR(CheckOptions(o));
  if (!(flags.rtol >= 0) || !(flags.atol >= 0)) {
    return absl::InvalidArgumentError("--rtol and --atol: wanted numbers of 0 or more");
  }
  options.tolerance = {.relative = flags.rtol, .absolute = flags.atol};
  return options;
}

absl::StatusOr<std::vector<OnnxCase>> CasesOf(const CheckOnnxFlags& flags) {
  std::vector<OnnxCase> cases;
  for (const std::string& folder : flags.folders) {
    KILN_ASSIGN_OR_RETURN(const std::vector<OnnxCase> found, FindOnnxCases(folder));
    for (const OnnxCase& c : found) {
      if (absl::StrContains(c.name, flags.filter)) cases.push_back(c);
    }
  }
  if (!cases.empty()) return cases;
  return absl::InvalidArgumentError(
      absl::StrCat("--filter: no case has '", flags.filter, "' in its name"));
}

// Encodes a result for the pipe from the child process: the outcome, a space, and the reason.
std::string Packed(const CaseResult& result) {
  return absl::StrCat(static_cast<int>(result.outcome), " ", result.reason);
}
CaseResult Unpacked(const ProcessEnd& end) {
  if (!end.failure.empty()) return {Outcome::kFailed, end.failure};
  return {static_cast<Outcome>(end.output[0] - '0'), end.output.substr(2)};
}

absl::Status PrintJson(const std::vector<OnnxCase>& cases, const std::vector<CaseResult>& results) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < cases.size(); ++i) {
    rows.push_back({{"case", cases[i].name},
                    {"outcome", kOutcomes[static_cast<size_t>(results[i].outcome)]},
                    {"reason", results[i].reason}});
  }
  return Print(rows.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

// Lists the cases that have not passed, grouped by reason.
std::string Text(const std::vector<OnnxCase>& cases, const std::vector<CaseResult>& results) {
  std::string text;
  for (const Outcome outcome : {Outcome::kUnsupported, Outcome::kFailed}) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (size_t i = 0; i < cases.size(); ++i) {
      if (results[i].outcome == outcome) by_reason[results[i].reason].push_back(cases[i].name);
    }
    for (const auto& [reason, names] : by_reason) {
      absl::StrAppend(&text, kOutcomes[static_cast<size_t>(outcome)], ": ", reason, "\n    ",
                      absl::StrJoin(names, "\n    "), "\n");
    }
  }
  return text;
}

absl::Status CheckOnnx(const CheckOnnxFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const CaseOptions options, CaseOptionsOf(flags));
  KILN_ASSIGN_OR_RETURN(const std::vector<OnnxCase> cases, CasesOf(flags));
  std::vector<CaseResult> results(cases.size());
  const bool terminal = isatty(STDERR_FILENO) != 0;
  size_t ended = 0;
  const int jobs =
      flags.jobs > 0 ? flags.jobs : static_cast<int>(std::thread::hardware_concurrency());
  KILN_RETURN_IF_ERROR(RunInProcesses(
      cases.size(), {.jobs = jobs, .timeout_seconds = flags.timeout_seconds},
      [&](size_t i) { return Packed(CheckOnnxCase(cases[i], options)); },
      [&](size_t i, const ProcessEnd& end) {
        results[i] = Unpacked(end);
        if (terminal) std::fprintf(stderr, "\r%zu of %zu cases", ++ended, cases.size());
      }));
  if (terminal) std::fprintf(stderr, "\r\033[K");
  size_t counts[std::size(kOutcomes)] = {};
  for (const CaseResult& result : results) ++counts[static_cast<size_t>(result.outcome)];
  if (flags.json) {
    KILN_RETURN_IF_ERROR(PrintJson(cases, results));
  } else {
    KILN_RETURN_IF_ERROR(Print(absl::StrCat(Text(cases, results), counts[0], " passed, ", counts[1],
                                            " failed, ", counts[2], " unsupported\n")));
  }
  if (counts[1] == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(counts[1], " of ", cases.size(), " cases failed"));
}

}  // namespace

void AddCheckOnnxCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "check-onnx", "Compile and run test cases in the layout of ONNX's backend tests");
  auto flags = std::make_shared<CheckOnnxFlags>();
  command
      ->add_option("folder", flags->folders,
                   "Folders with cases below them: <case>/model.onnx and "
                   "<case>/test_data_set_<n>/{input,output}_<i>.pb")
      ->required();
  command->add_option("--codegen", flags->codegen,
                      "llvm or c (default: llvm where it is built in)");
  command->add_option("--executor", flags->executor, "aot or graph")->capture_default_str();
  command->add_option("--target", flags->target, "host, x86-64-v3, …: one that runs here")
      ->capture_default_str();
  command->add_option("--filter", flags->filter, "Only cases whose name contains this");
  command->add_option("--rtol", flags->rtol, "Relative tolerance of outputs")
      ->capture_default_str();
  command->add_option("--atol", flags->atol, "Absolute tolerance of outputs")
      ->capture_default_str();
  command->add_option("--jobs", flags->jobs, "Cases at a time; 0: one per CPU")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--timeout", flags->timeout_seconds, "Seconds that a case may take")
      ->check(CLI::Range(1, 24 * 3600))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print a JSON array: case, outcome and reason");
  SetGroups(*command, {{"Cases", {"--filter", "--jobs", "--timeout"}},
                       {"Compilation", {"--codegen", "--executor", "--target"}},
                       {"Tolerance", {"--rtol", "--atol"}},
                       {"Output", {"--json"}}});
  command->footer(
      "A case fails if an output differs; it is unsupported where the compiler says\n"
      "that it lacks something.\n"
      "Examples:\n"
      "  kiln check-onnx /usr/share/libonnx-testdata/data/simple\n"
      "  kiln check-onnx /usr/share/libonnx-testdata/data/node --filter conv --codegen c");
  command->callback([flags, &action] { action = [flags] { return CheckOnnx(*flags); }; });
}

}  // namespace kiln::tools
