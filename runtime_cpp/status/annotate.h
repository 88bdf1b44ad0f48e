// SPDX-License-Identifier: Apache-2.0
// Adds a prefix to the message of an error, such as the name of the file that it is about.
//
//   return Annotate(status, absl::StrCat(path, ": "));
#ifndef KILN_RUNTIME_CPP_STATUS_ANNOTATE_H_
#define KILN_RUNTIME_CPP_STATUS_ANNOTATE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Returns `status` with `prefix` before its message. An OK status is unchanged.
inline absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

}  // namespace kiln

#endif  // KILN_RUNTIME_CPP_STATUS_ANNOTATE_H_
