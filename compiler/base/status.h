// SPDX-License-Identifier: Apache-2.0
// Error propagation for functions that return absl::Status or absl::StatusOr: the macros of
// runtime_cpp/status/macros.h, and Annotate of runtime_cpp/status/annotate.h.
//
//   KILN_RETURN_IF_ERROR(Verify(graph));
//   KILN_ASSIGN_OR_RETURN(Graph graph, ParseRelay(text, "model.relay"));
#ifndef KILN_COMPILER_BASE_STATUS_H_
#define KILN_COMPILER_BASE_STATUS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

#endif  // KILN_COMPILER_BASE_STATUS_H_
