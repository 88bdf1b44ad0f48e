// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/budget.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "tools/kiln/elf.h"

namespace kiln::tools {
namespace {

constexpr size_t kMostNamed = 5;
constexpr int64_t kMaxLimitBytes = int64_t{1} << 40;

// Returns a line for each of the kMostNamed largest parts, largest first.
std::string Largest(std::vector<ObjectPart> parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const ObjectPart& a, const ObjectPart& b) {
    return a.size_bytes > b.size_bytes;
  });
  std::string text;
  for (size_t i = 0; i < std::min(kMostNamed, parts.size()); ++i) {
    absl::StrAppend(&text, "\n  ", parts[i].size_bytes, " bytes: ", parts[i].name);
  }
  if (parts.size() > kMostNamed) {
    absl::StrAppend(&text, "\n  and ", parts.size() - kMostNamed, " smaller ones");
  }
  return text;
}

std::vector<ObjectPart> Buffers(const proto::Metadata& metadata) {
  std::vector<ObjectPart> parts;
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() != proto::Pool::WORKSPACE) continue;
    for (const proto::PoolBuffer& buffer : pool.buffers()) {
      parts.push_back({absl::StrCat(buffer.name(), " in ", pool.name(), ", calls ",
                                    buffer.first_call(), " to ", buffer.last_call()),
                       buffer.size_bytes()});
    }
  }
  return parts;
}

// A limit, the usage that counts towards it, and lines of an error that name the largest
// contributors.
struct Use {
  const char* what;
  int64_t limit = 0, used = 0;
  std::string contributors;
};

// Returns the usage for every limit of the budget.
absl::StatusOr<std::vector<Use>> UsesOf(const Budget& budget, const ObjectFigures& figures,
                                        const proto::Metadata& metadata) {
  if (budget.stack.has_value() && !figures.stack_bytes.has_value()) {
    return absl::FailedPreconditionError(
        "the stack is limited, but what the functions of the object take of it is not known");
  }
  std::vector<ObjectPart> ram = figures.ram_parts;
  int64_t ram_bytes = figures.ram_bytes;
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() == proto::Pool::CONSTANT || !pool.external()) continue;
    ram_bytes += pool.size_bytes();
    ram.push_back({absl::StrCat("pool ", pool.name()), pool.size_bytes()});
  }
  std::vector<Use> uses;
  const auto add = [&](const std::optional<int64_t>& limit, const char* what, int64_t used,
                       std::string contributors) {
    if (limit.has_value()) uses.push_back({what, *limit, used, std::move(contributors)});
  };
  add(budget.flash, "flash", figures.flash_bytes, Largest(figures.flash_parts));
  add(budget.ram, "RAM", ram_bytes, Largest(ram));
  add(budget.stack, "stack", figures.stack_bytes.value_or(0),
      absl::StrCat("\n  ", absl::StrJoin(figures.deepest_calls, " calls\n  ")));
  add(budget.workspace, "workspace", metadata.functions(0).workspace_size_bytes(),
      Largest(Buffers(metadata)));
  return uses;
}

}  // namespace

absl::StatusOr<int64_t> ParseLimit(absl::string_view option, absl::string_view text) {
  absl::string_view digits = text;
  int64_t unit = 1, bytes = 0;
  if (absl::ConsumeSuffix(&digits, "K")) unit = int64_t{1} << 10;
  if (unit == 1 && absl::ConsumeSuffix(&digits, "M")) unit = int64_t{1} << 20;
  if (absl::SimpleAtoi(digits, &bytes) && bytes >= 0 && bytes <= kMaxLimitBytes / unit) {
    return bytes * unit;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": found '", text, "', wanted a number of bytes, such as 65536 or 64K"));
}

absl::Status CheckIsObjectOf(const proto::Metadata& metadata, absl::string_view object) {
  KILN_ASSIGN_OR_RETURN(const ElfObject elf, ParseElfObject(object));
  const auto defines = [&elf](const std::string& name) {
    return std::any_of(elf.symbols.begin(), elf.symbols.end(), [&](const ElfSymbol& symbol) {
      return symbol.section != 0 && symbol.name == name;
    });
  };
  // Some operator functions may be missing, because a compiler inlined them into their only caller.
  // One function suffices.
  for (const proto::Function& function : metadata.functions()) {
    if (defines(function.name())) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the object has none of the functions of the model '", metadata.module_name(), "', such as ",
      metadata.functions(0).name(), "; wanted the object that was made together with --metadata"));
}

absl::StatusOr<std::string> CheckBudget(const Budget& budget, const ObjectFigures& figures,
                                        const proto::Metadata& metadata) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Use> uses, UsesOf(budget, figures, metadata));
  std::string text, excess;
  for (const Use& use : uses) {
    if (use.used > use.limit) {
      absl::StrAppend(&excess, excess.empty() ? "" : "\n", "the model takes ", use.used,
                      " bytes of ", use.what, ", ", use.used - use.limit,
                      " more than the budget of ", use.limit, ":", use.contributors);
    } else {
      const double part =
          use.limit == 0 ? 0 : static_cast<double>(use.used) / static_cast<double>(use.limit);
      absl::StrAppendFormat(&text, "%s: %d of %d bytes, %.1f %%\n", use.what, use.used, use.limit,
                            100 * part);
    }
  }
  if (!excess.empty()) return absl::ResourceExhaustedError(excess);
  return text;
}

absl::StatusOr<nlohmann::ordered_json> BudgetJson(const Budget& budget,
                                                  const ObjectFigures& figures,
                                                  const proto::Metadata& metadata) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Use> uses, UsesOf(budget, figures, metadata));
  const bool is_within =
      std::all_of(uses.begin(), uses.end(), [](const Use& use) { return use.used <= use.limit; });
  nlohmann::ordered_json json = {{"model", metadata.module_name()}, {"within_budget", is_within}};
  for (const Use& use : uses) {
    json[absl::AsciiStrToLower(use.what)] = {{"used_bytes", use.used}, {"limit_bytes", use.limit}};
  }
  return json;
}

}  // namespace kiln::tools
