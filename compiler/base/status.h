// SPDX-License-Identifier: Apache-2.0
// Error propagation for functions that return absl::Status or absl::StatusOr: the macros of
// runtime_cpp/status/macros.h, and what puts words before a message.
//
//   KILN_RETURN_IF_ERROR(Verify(graph));
//   KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, "model.relay"));
#ifndef KILN_COMPILER_BASE_STATUS_H_
#define KILN_COMPILER_BASE_STATUS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/status/macros.h"

namespace kiln {

// `status` with `prefix` put before its message; an OK status is returned as it is.
inline absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_STATUS_H_
