// SPDX-License-Identifier: Apache-2.0
// kiln budget
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "metadata/json.h"
#include "tools/kiln/budget.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/object_report.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

constexpr char kFlash[] = "--max-flash-bytes", kRam[] = "--max-ram-bytes",
               kStack[] = "--max-stack-bytes", kWorkspace[] = "--max-workspace-bytes";

struct BudgetFlags {
  std::string object, metadata, stack_usage, copy, output;
  std::optional<std::string> flash, ram, stack, workspace;
  bool json = false;
};

absl::StatusOr<Budget> BudgetOf(const BudgetFlags& flags) {
  Budget budget;
  for (const auto& [option, text, limit] :
       {std::tuple(kFlash, &flags.flash, &budget.flash), std::tuple(kRam, &flags.ram, &budget.ram),
        std::tuple(kStack, &flags.stack, &budget.stack),
        std::tuple(kWorkspace, &flags.workspace, &budget.workspace)}) {
    if (!text->has_value()) continue;
    KILN_ASSIGN_OR_RETURN(*limit, ParseLimit(option, **text));
  }
  if (budget.flash || budget.ram || budget.stack || budget.workspace) return budget;
  return absl::InvalidArgumentError(absl::StrCat("budget: found no limit, wanted at least one of ",
                                                 kFlash, ", ", kRam, ", ", kStack, ", ",
                                                 kWorkspace));
}

absl::Status RunBudget(const BudgetFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const Budget budget, BudgetOf(flags));
  if (!flags.output.empty()) KILN_RETURN_IF_ERROR(CheckIsNoFolder("-o", flags.output));
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.object, kMaxFileBytes));
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.metadata, kMaxFileBytes));
  KILN_ASSIGN_OR_RETURN(const proto::Metadata metadata, ParseMetadataJson(text, flags.metadata));
  std::map<std::string, int64_t> stack_usage;
  if (!flags.stack_usage.empty()) {
    KILN_ASSIGN_OR_RETURN(const std::string usage, ReadFile(flags.stack_usage, kMaxFileBytes));
    KILN_ASSIGN_OR_RETURN(stack_usage, ParseStackUsage(usage, flags.stack_usage));
  }
  const absl::StatusOr<ObjectFigures> figures = MeasureObject(bytes, std::move(stack_usage));
  if (!figures.ok()) return Annotate(figures.status(), flags.object + ": ");
  KILN_RETURN_IF_ERROR(Annotate(CheckIsObjectOf(metadata, bytes), flags.object + ": "));
  if (flags.json) {
    const auto json = BudgetJson(budget, *figures, metadata);
    if (!json.ok()) return Annotate(json.status(), metadata.module_name() + ": ");
    KILN_RETURN_IF_ERROR(PrintJson(*json));
  }
  const absl::StatusOr<std::string> use = CheckBudget(budget, *figures, metadata);
  if (!use.ok()) {
    KILN_RETURN_IF_ERROR(FlushStandardOutput());
    return Annotate(use.status(), metadata.module_name() + ": ");
  }
  if (!flags.json) KILN_RETURN_IF_ERROR(Print(*use));
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
  command->add_option(kFlash, flags->flash, "Code, constants, initial values; 65536, 64K or 1M");
  command->add_option(kRam, flags->ram, "Static memory and pools");
  command->add_option(kStack, flags->stack, "The deepest chain of calls");
  command->add_option(kWorkspace, flags->workspace, "Memory for tensors between operators");
  CLI::Option* output =
      command->add_option("-o,--output", flags->output, "Where --copy goes if all is well");
  command->add_option("--copy", flags->copy, "A file to copy")->needs(output);
  command->add_flag("--json", flags->json, "Print one JSON object: what is used of each limit");
  output->needs("--copy");
  SetGroups(*command, {{"Sizes", {"--metadata", "--stack-usage"}},
                       {"Limits", {kFlash, kRam, kStack, kWorkspace}},
                       {"Output", {"--output", "--copy", "--json"}}});
  command->footer(
      "Examples:\n  kiln budget digits.o --metadata digits.metadata.json --max-flash-bytes 128K "
      "--max-stack-bytes 512");
  command->callback([flags, &action] { action = [flags] { return RunBudget(*flags); }; });
}

}  // namespace kiln::tools
