// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/choices.h"

#include <algorithm>
#include <cstdint>
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
  std::optional<ObjectFigures> code;
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

// Of one inference of inputs that are all zero bytes.
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

absl::StatusOr<Choice> ChoiceOf(const Graph& graph, CompileOptions options, Optimize value) {
  options.schedule.optimize = value;
  Choice choice = {.value = value};
  KILN_ASSIGN_OR_RETURN(const Stages stages, RunStages(graph, options));
  choice.workspace_bytes = stages.metadata.functions(0).workspace_size_bytes();
  choice.state_bytes = StateBytes(stages.metadata);
  choice.code = CodeFigures(stages, options);
  const absl::StatusOr<mlf::Module> module = CompileForBoard(graph, options);
  if (module.ok()) {
    choice.instructions = Instructions(*module, options.target);
  } else {
    choice.instructions = module.status();
  }
  return choice;
}

}  // namespace

absl::StatusOr<std::string> ChoicesText(const Graph& graph, const CompileOptions& options,
                                        int columns) {
  std::vector<Choice> choices;
  std::string refused;
  absl::Status error;
  for (Optimize value : kValues) {
    absl::StatusOr<Choice> choice = ChoiceOf(graph, options, value);
    if (choice.ok()) {
      choices.push_back(*std::move(choice));
      continue;
    }
    error = choice.status();
    absl::StrAppend(&refused, "--optimize ", SpellingOf(value), ": ", error.message(), "\n");
  }
  if (choices.empty()) return error;
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.ram_bytes() < b.ram_bytes(); });
  Table table({"--optimize", ">RAM", ">flash", ">stack", ">instructions"});
  absl::Status unknown;
  for (const Choice& choice : choices) {
    if (!choice.instructions.ok()) unknown = choice.instructions.status();
    const auto bytes = [&](auto get) {
      return choice.code.has_value() ? get(*choice.code) : std::string();
    };
    table.Add({SpellingOf(choice.value), absl::StrCat(choice.ram_bytes()),
               bytes([](const ObjectFigures& code) { return absl::StrCat(code.flash_bytes); }),
               bytes([](const ObjectFigures& code) {
                 return code.stack_bytes ? absl::StrCat(*code.stack_bytes) : "";
               }),
               choice.instructions.ok() ? absl::StrCat(*choice.instructions) : ""});
  }
  std::string text = absl::StrCat("choices, sizes in bytes, the smallest RAM first (workspace",
                                  options.workspace_io ? " with inputs and outputs" : "",
                                  choices.front().state_bytes > 0 ? ", and state" : "", "):\n",
                                  table.ToString(columns));
  if (!choices.front().code.has_value()) {
    absl::StrAppend(&text, "flash and stack: a compiler makes the code of C; inspect its object\n");
  }
  if (!unknown.ok()) absl::StrAppend(&text, "instructions: ", unknown.message(), "\n");
  return absl::StrCat(text, refused);
}

}  // namespace kiln::tools
