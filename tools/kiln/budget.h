// SPDX-License-Identifier: Apache-2.0
// Memory limits of a model on a machine, with the largest contributors if a limit is exceeded:
// `kiln budget my_mod.o`.
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

// Limits in bytes. An absent value means no limit.
struct Budget {
  std::optional<int64_t> flash;      // code, constants, initial values
  std::optional<int64_t> ram;        // static memory, and pools that the application provides
  std::optional<int64_t> stack;      // the deepest chain of calls inside of the model
  std::optional<int64_t> workspace;  // memory for tensors between operators
};

// Parses a number of bytes such as "65536", or "64K" with K or M for 2^10 or 2^20 bytes. Errors
// name `option`.
absl::StatusOr<int64_t> ParseLimit(absl::string_view option, absl::string_view text);

// InvalidArgument if `object` is not the object of the model that the metadata describes.
absl::Status CheckIsObjectOf(const proto::Metadata& metadata, absl::string_view object);

// Returns a line with the usage for every limit. ResourceExhausted, with a paragraph for every
// exceeded limit that states the excess and the largest contributors. FailedPrecondition if the
// stack is limited but its usage is not known.
absl::StatusOr<std::string> CheckBudget(const Budget& budget, const ObjectFigures& figures,
                                        const proto::Metadata& metadata);

// Returns the usage as JSON, also if a limit is exceeded: `within_budget`, and `used_bytes` and
// `limit_bytes` for every limit.
absl::StatusOr<nlohmann::ordered_json> BudgetJson(const Budget& budget,
                                                  const ObjectFigures& figures,
                                                  const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BUDGET_H_
