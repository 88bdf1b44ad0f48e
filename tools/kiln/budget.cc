// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/budget.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::tools {
namespace {

constexpr size_t kMostNamed = 5;

// The largest parts, the largest first, a line each.
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

class BudgetChecker {
 public:
  void Check(const std::optional<int64_t>& limit, const char* what, int64_t used,
             const std::string& contributors) {
    if (!limit.has_value() || used <= *limit) return;
    absl::StrAppend(&text_, text_.empty() ? "" : "\n", "the model takes ", used, " bytes of ", what,
                    ", ", used - *limit, " more than the budget of ", *limit, ":", contributors);
  }

  absl::Status status() const {
    return text_.empty() ? absl::OkStatus() : absl::ResourceExhaustedError(text_);
  }

 private:
  std::string text_;
};

}  // namespace

absl::Status CheckBudget(const Budget& budget, const ObjectFigures& figures,
                         const proto::Metadata& metadata) {
  if (budget.stack.has_value() && !figures.stack_bytes.has_value()) {
    return absl::FailedPreconditionError(
        "the stack is limited, but what the functions of the object take of it is not known");
  }
  std::vector<ObjectPart> ram = figures.ram_parts;
  int64_t ram_bytes = figures.ram_bytes;
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() != proto::Pool::WORKSPACE || !pool.external()) continue;
    ram_bytes += pool.size_bytes();
    ram.push_back({absl::StrCat("pool ", pool.name()), pool.size_bytes()});
  }
  BudgetChecker checker;
  checker.Check(budget.flash, "flash", figures.flash_bytes, Largest(figures.flash_parts));
  checker.Check(budget.ram, "RAM", ram_bytes, Largest(ram));
  checker.Check(budget.stack, "stack", figures.stack_bytes.value_or(0),
                absl::StrCat("\n  ", absl::StrJoin(figures.deepest_calls, " calls\n  ")));
  checker.Check(budget.workspace, "workspace", metadata.functions(0).workspace_size_bytes(),
                Largest(Buffers(metadata)));
  return checker.status();
}

}  // namespace kiln::tools
