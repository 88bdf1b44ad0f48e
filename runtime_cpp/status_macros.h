// SPDX-License-Identifier: Apache-2.0
//
// Early return on errors, for the sources of this directory; not included by public headers.
//
//   KILN_RETURN_IF_ERROR(CheckShape(tensor));
//   KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, dtype, device));
#ifndef KILN_RUNTIME_CPP_STATUS_MACROS_H_
#define KILN_RUNTIME_CPP_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define KILN_MACRO_CONCAT_INNER(a, b) a##b
#define KILN_MACRO_CONCAT(a, b) KILN_MACRO_CONCAT_INNER(a, b)

#undef KILN_RETURN_IF_ERROR
#define KILN_RETURN_IF_ERROR(expr)                              \
  do {                                                          \
    if (absl::Status kiln_status = (expr); !kiln_status.ok()) { \
      return kiln_status;                                       \
    }                                                           \
  } while (false)

#undef KILN_ASSIGN_OR_RETURN
#define KILN_ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)
#define KILN_ASSIGN_OR_RETURN(lhs, expr) \
  KILN_ASSIGN_OR_RETURN_INNER(KILN_MACRO_CONCAT(kiln_result_, __LINE__), lhs, expr)

#endif  // KILN_RUNTIME_CPP_STATUS_MACROS_H_
