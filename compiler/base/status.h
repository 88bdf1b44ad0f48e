// SPDX-License-Identifier: Apache-2.0
// Error propagation for functions that return absl::Status or absl::StatusOr.
//
//   KILN_RETURN_IF_ERROR(Verify(graph));
//   KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, "model.relay"));
#ifndef KILN_COMPILER_BASE_STATUS_H_
#define KILN_COMPILER_BASE_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#define KILN_STATUS_CONCAT_INNER(a, b) a##b
#define KILN_STATUS_CONCAT(a, b) KILN_STATUS_CONCAT_INNER(a, b)

#define KILN_RETURN_IF_ERROR(expr)                              \
  do {                                                          \
    if (absl::Status kiln_status = (expr); !kiln_status.ok()) { \
      return kiln_status;                                       \
    }                                                           \
  } while (false)

#define KILN_ASSIGN_OR_RETURN_INNER(status_or, lhs, rexpr)   \
  auto status_or = (rexpr);                                  \
  if (!status_or.ok()) return std::move(status_or).status(); \
  lhs = *std::move(status_or)

// `lhs` must not contain a comma outside parentheses.
#define KILN_ASSIGN_OR_RETURN(lhs, rexpr) \
  KILN_ASSIGN_OR_RETURN_INNER(KILN_STATUS_CONCAT(kiln_status_or_, __LINE__), lhs, rexpr)

namespace kiln {

// `status` with `prefix` put before its message; an OK status is returned as it is.
inline absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_STATUS_H_
