// SPDX-License-Identifier: Apache-2.0
// kiln budget
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "metadata/json.h"
#include "tools/kiln/budget.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{4} << 30;

struct BudgetFlags {
  std::string object, metadata, stack_usage, copy, output;
  Budget budget;
};

absl::Status RunBudget(const BudgetFlags& flags) {
  if (!flags.output.empty()) KILN_RETURN_IF_ERROR(CheckIsNoFolder("-o", flags.output));
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.object, kMaxFileBytes));
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.metadata, kMaxFileBytes));
  KILN_ASSIGN_OR_RETURN(const proto::Metadata metadata, ParseMetadataJson(text, flags.metadata));
  std::map<std::string, int64_t> stack_usage;
  if (!flags.stack_usage.empty()) {
    KILN_ASSIGN_OR_RETURN(const std::string usage, ReadFile(flags.stack_usage, kMaxFileBytes));
    stack_usage = ParseStackUsage(usage);
  }
  const absl::StatusOr<ObjectFigures> figures = MeasureObject(bytes, std::move(stack_usage));
  if (!figures.ok()) return Annotate(figures.status(), flags.object + ": ");
  const absl::Status status = CheckBudget(flags.budget, *figures, metadata);
  if (!status.ok()) return Annotate(status, metadata.module_name() + ": ");
  if (flags.output.empty()) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const std::string copy, ReadFile(flags.copy, kMaxFileBytes));
  return Apply({.files = {{flags.output, copy}}, .inputs = {flags.object, flags.metadata}});
}

}  // namespace

void AddBudgetCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "budget", "Check what the object of a model takes of flash, RAM, stack and workspace");
  auto flags = std::make_shared<BudgetFlags>();
  command->add_option("object", flags->object, "Object (.o)")->required();
  command->add_option("--metadata", flags->metadata, "The model's metadata (.metadata.json)")
      ->required();
  command->add_option("--stack-usage", flags->stack_usage,
                      "Of an object of gcc: what -fstack-usage has written (.su)");
  command->add_option("--max-flash-bytes", flags->budget.flash, "Code, constants, initial values");
  command->add_option("--max-ram-bytes", flags->budget.ram, "Static memory and pools");
  command->add_option("--max-stack-bytes", flags->budget.stack, "The deepest chain of calls");
  command->add_option("--max-workspace-bytes", flags->budget.workspace,
                      "Memory for tensors between operators");
  CLI::Option* output =
      command->add_option("-o,--output", flags->output, "Where --copy goes if all is well");
  command->add_option("--copy", flags->copy, "A file to copy")->needs(output);
  output->needs("--copy");
  command->footer(
      "Examples:\n  kiln budget digits.o --metadata digits.metadata.json --max-flash-bytes 131072 "
      "--max-stack-bytes 512");
  command->callback([flags, &action] { action = [flags] { return RunBudget(*flags); }; });
}

}  // namespace kiln::tools
