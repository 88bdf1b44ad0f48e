// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/choices.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/dtype.h"
#include "compiler/base/status.h"
#include "compiler/pipeline/compile.h"
#include "tools/kiln/board_model.h"
#include "tools/kiln/code_figures.h"
#include "tools/terminal/table.h"
#include "tools/validate/board_run.h"

namespace kiln::tools {
namespace {

constexpr Optimize kValues[] = {Optimize::kSpeed, Optimize::kBalanced, Optimize::kSize,
                                Optimize::kRam};

struct Choice {
  Optimize value = Optimize::kSpeed;
  int64_t workspace_bytes = 0, state_bytes = 0;
  absl::StatusOr<ObjectFigures> code = absl::UnknownError("");
  absl::StatusOr<int64_t> instructions = 0;

  int64_t ram_bytes() const { return workspace_bytes + state_bytes; }
};

int64_t StateBytes(const proto::Metadata& metadata) {
  int64_t bytes = 0;
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() == proto::Pool::STATE) bytes += pool.size_bytes();
  }
  return bytes;
}

// Returns the instructions of one inference with inputs of zero bytes.
absl::StatusOr<int64_t> Instructions(const mlf::Module& module, const Target& target) {
  KILN_ASSIGN_OR_RETURN(const Board board, FindBoard(target.name));
  KILN_RETURN_IF_ERROR(CheckForBoard(module));
  const proto::Function& main = module.metadata.functions(0);
  std::vector<Samples> samples;
  for (int i = 0; i < main.num_inputs(); ++i) {
    const proto::Parameter& parameter = main.parameters(i);
    TensorType type;
    type.shape.assign(parameter.shape().begin(), parameter.shape().end());
    KILN_ASSIGN_OR_RETURN(type.dtype, DType::Parse(parameter.dtype()));
    const auto bytes = static_cast<size_t>(type.num_bytes());
    samples.push_back({std::move(type), 1, std::string(bytes, '\0')});
  }
  KILN_ASSIGN_OR_RETURN(const BoardRun run, RunOnBoard(module, board, samples, {}));
  if (run.instructions.empty()) return absl::UnavailableError("the board counted no instructions");
  return run.instructions.front();
}

absl::StatusOr<ObjectFigures> Figures(const Compilation& compilation,
                                      const CompileOptions& options) {
  if (options.codegen == Codegen::kC) return CompiledFigures(compilation, options);
  if (const std::optional<ObjectFigures> figures = CodeFigures(compilation, options))
    return *figures;
  return absl::UnimplementedError("a compiler makes the code of C; inspect its object");
}

absl::StatusOr<Choice> ChoiceOf(const Graph& graph, CompileOptions options, Optimize value) {
  options.schedule.optimize = value;
  Choice choice = {.value = value};
  KILN_ASSIGN_OR_RETURN(const Compilation compilation, RunStages(graph, options));
  choice.workspace_bytes = compilation.metadata.functions(0).workspace_size_bytes();
  choice.state_bytes = StateBytes(compilation.metadata);
  choice.code = Figures(compilation, options);
  const absl::StatusOr<mlf::Module> module = CompileForBoard(graph, options);
  if (module.ok()) {
    choice.instructions = Instructions(*module, options.target);
  } else {
    choice.instructions = module.status();
  }
  return choice;
}

struct Choices {
  std::vector<Choice> rows;  // smallest RAM first
  std::vector<std::pair<Optimize, absl::Status>> refused;
};

// Compiles with each value. Error if no value compiles.
absl::StatusOr<Choices> AllChoices(const Graph& graph, const CompileOptions& options) {
  Choices choices;
  for (Optimize value : kValues) {
    absl::StatusOr<Choice> choice = ChoiceOf(graph, options, value);
    if (choice.ok()) {
      choices.rows.push_back(*std::move(choice));
    } else {
      choices.refused.emplace_back(value, choice.status());
    }
  }
  if (choices.rows.empty()) return choices.refused.back().second;
  std::stable_sort(choices.rows.begin(), choices.rows.end(),
                   [](const Choice& a, const Choice& b) { return a.ram_bytes() < b.ram_bytes(); });
  return choices;
}

std::optional<int64_t> FlashBytes(const Choice& choice) {
  return choice.code.ok() ? std::make_optional(choice.code->flash_bytes) : std::nullopt;
}

std::optional<int64_t> StackBytes(const Choice& choice) {
  return choice.code.ok() ? choice.code->stack_bytes : std::nullopt;
}

std::optional<int64_t> InstructionsOf(const Choice& choice) {
  return choice.instructions.ok() ? std::make_optional(*choice.instructions) : std::nullopt;
}

std::string Cell(std::optional<int64_t> number) {
  return number.has_value() ? absl::StrCat(*number) : "-";
}

nlohmann::ordered_json JsonNumber(std::optional<int64_t> number) {
  return number.has_value() ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

}  // namespace

absl::StatusOr<std::string> ChoicesText(const Graph& graph, const CompileOptions& options,
                                        int columns) {
  KILN_ASSIGN_OR_RETURN(const Choices choices, AllChoices(graph, options));
  Table table({"--optimize", ">RAM", ">flash", ">stack", ">instructions"});
  absl::Status no_code, no_instructions;
  for (const Choice& choice : choices.rows) {
    if (!choice.code.ok()) no_code = choice.code.status();
    if (!choice.instructions.ok()) no_instructions = choice.instructions.status();
    table.Add({SpellingOf(choice.value), absl::StrCat(choice.ram_bytes()), Cell(FlashBytes(choice)),
               Cell(StackBytes(choice)), Cell(InstructionsOf(choice))});
  }
  std::string text = absl::StrCat("choices, sizes in bytes, the smallest RAM first (workspace",
                                  options.workspace_io ? " with inputs and outputs" : "",
                                  choices.rows.front().state_bytes > 0 ? ", and state" : "", "):\n",
                                  table.ToString(columns));
  if (!no_code.ok()) absl::StrAppend(&text, "flash and stack: ", no_code.message(), "\n");
  if (!no_instructions.ok()) {
    absl::StrAppend(&text, "instructions: ", no_instructions.message(), "\n");
  }
  for (const auto& [value, error] : choices.refused) {
    absl::StrAppend(&text, "--optimize ", SpellingOf(value), ": ", error.message(), "\n");
  }
  return text;
}

absl::StatusOr<std::string> ChoicesJson(const Graph& graph, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const Choices choices, AllChoices(graph, options));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Choice& choice : choices.rows) {
    rows.push_back({{"optimize", SpellingOf(choice.value)},
                    {"workspace_bytes", choice.workspace_bytes},
                    {"state_bytes", choice.state_bytes},
                    {"flash_bytes", JsonNumber(FlashBytes(choice))},
                    {"stack_bytes", JsonNumber(StackBytes(choice))},
                    {"instructions", JsonNumber(InstructionsOf(choice))}});
  }
  nlohmann::ordered_json refused = nlohmann::ordered_json::array();
  for (const auto& [value, error] : choices.refused) {
    refused.push_back({{"optimize", SpellingOf(value)}, {"reason", std::string(error.message())}});
  }
  return nlohmann::ordered_json{{"choices", rows}, {"refused", refused}}.dump(2) + "\n";
}

}  // namespace kiln::tools
