// SPDX-License-Identifier: Apache-2.0
// Macros that return early on errors, for functions that return absl::Status or absl::StatusOr.
// Public headers do not include this file.
//
//   KILN_RETURN_IF_ERROR(CheckShape(tensor));
//   KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, dtype, device));
#ifndef KILN_RUNTIME_CPP_STATUS_MACROS_H_
#define KILN_RUNTIME_CPP_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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

#endif  // KILN_RUNTIME_CPP_STATUS_MACROS_H_
