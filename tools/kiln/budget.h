// SPDX-License-Identifier: Apache-2.0
// What a model may take of a machine, and what takes most where it is more: `kiln budget my_mod.o`.
#ifndef KILN_TOOLS_KILN_BUDGET_H_
#define KILN_TOOLS_KILN_BUDGET_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

// In bytes; no limit where there is none.
struct Budget {
  std::optional<int64_t> flash;      // code, constants, initial values
  std::optional<int64_t> ram;        // static memory, and pools that the application gives
  std::optional<int64_t> stack;      // the deepest chain of calls inside of the model
  std::optional<int64_t> workspace;  // memory for tensors between operators
};

// "65536", or with K or M for 2^10 or 2^20 bytes "64K"; `option` is what the error says.
absl::StatusOr<int64_t> ParseLimit(absl::string_view option, absl::string_view text);

// InvalidArgument if `object` is not that of the model that the metadata describe.
absl::Status CheckIsObjectOf(const proto::Metadata& metadata, absl::string_view object);

// A line for every limit: what is used of it. ResourceExhausted with a paragraph for every limit
// that is exceeded: by how much, and the largest contributors. FailedPrecondition if the stack is
// limited and not known.
absl::StatusOr<std::string> CheckBudget(const Budget& budget, const ObjectFigures& figures,
                                        const proto::Metadata& metadata);

// The same as JSON, whether a limit is exceeded or not: `within_budget`, and for every limit
// `used_bytes` and `limit_bytes`.
absl::StatusOr<nlohmann::ordered_json> BudgetJson(const Budget& budget,
                                                  const ObjectFigures& figures,
                                                  const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BUDGET_H_
