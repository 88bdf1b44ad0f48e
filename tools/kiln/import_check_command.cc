// SPDX-License-Identifier: Apache-2.0
// kiln import-check
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/model_options.h"
#include "tools/kiln/standard_output.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

struct ImportCheckFlags {
  std::vector<std::string> models;
  InputFlags inputs;
  bool json = false;
};

struct ImportOutcome {
  std::string file;
  size_t nodes = 0, operators = 0;   // of the imported graph
  std::vector<std::string> reasons;  // empty if the model is imported
};

ImportOutcome Check(const std::string& file, const InputFlags& inputs) {
  ImportOutcome outcome = {.file = file};
  const absl::StatusOr<Graph> graph = LoadModel(file, inputs);
  if (graph.ok()) {
    std::set<std::string> operators;
    for (const Node& node : graph->nodes) operators.emplace(node.op_name());
    outcome.nodes = graph->nodes.size();
    outcome.operators = operators.size();
    return outcome;
  }
  for (absl::string_view line : absl::StrSplit(graph.status().message(), '\n')) {
    absl::ConsumePrefix(&line, file + ": ");
    outcome.reasons.emplace_back(line);
  }
  return outcome;
}

std::string OutcomesText(const std::vector<ImportOutcome>& outcomes) {
  Table table({"file", ">nodes", ">operators", "import"});
  std::map<std::string, std::vector<std::string>> files;  // keyed by reason
  for (const ImportOutcome& o : outcomes) {
    const bool ok = o.reasons.empty();
    table.Add({o.file, ok ? absl::StrCat(o.nodes) : "-", ok ? absl::StrCat(o.operators) : "-",
               ok ? "ok"
                  : absl::StrCat(o.reasons.size(), o.reasons.size() == 1 ? " reason" : " reasons",
                                 " against it")});
    for (const std::string& reason : o.reasons) files[Shortened(reason)].push_back(o.file);
  }
  std::string text = table.ToString();
  for (const auto& [reason, names] : files) {
    absl::StrAppend(&text, reason, "\n    ", absl::StrJoin(names, "\n    "), "\n");
  }
  return text;
}

std::string OutcomesJson(const std::vector<ImportOutcome>& outcomes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ImportOutcome& o : outcomes) {
    rows.push_back({{"file", o.file},
                    {"ok", o.reasons.empty()},
                    {"nodes", o.nodes},
                    {"operators", o.operators},
                    {"reasons", o.reasons}});
  }
  return rows.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::Status ImportCheck(const ImportCheckFlags& flags) {
  std::vector<ImportOutcome> outcomes;
  size_t refused = 0;
  for (const std::string& file : flags.models) {
    outcomes.push_back(Check(file, flags.inputs));
    refused += outcomes.back().reasons.empty() ? 0 : 1;
  }
  KILN_RETURN_IF_ERROR(Print(flags.json ? OutcomesJson(outcomes) : OutcomesText(outcomes)));
  if (refused == 0) return absl::OkStatus();
  const auto first =
      std::find_if(outcomes.begin(), outcomes.end(),
                   [](const ImportOutcome& outcome) { return !outcome.reasons.empty(); });
  return absl::FailedPreconditionError(
      absl::StrCat(refused, " of ", outcomes.size(), " models cannot be imported",
                   refused > 1 ? "; the first: " : ": ", first->file, ": ", first->reasons[0]));
}

}  // namespace

void AddImportCheckCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("import-check", "Say of model files whether they can be imported");
  auto flags = std::make_shared<ImportCheckFlags>();
  command->add_option("model", flags->models, "Model files")->required();
  AddInputOptions(*command, flags->inputs);
  command->add_flag("--json", flags->json,
                    "Print a JSON array: file, ok, nodes, operators and reasons");
  command->footer(
      "Every reason against a model is told, with the files that it is about.\n"
      "The exit status is 2 if there is one, as of check-onnx where a case fails.\n"
      "Example:\n"
      "  kiln import-check model.onnx");
  command->callback([flags, &action] { action = [flags] { return ImportCheck(*flags); }; });
}

}  // namespace kiln::tools
