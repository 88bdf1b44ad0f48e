// SPDX-License-Identifier: Apache-2.0
// Errors of system calls as statuses.
#ifndef KILN_COMPILER_BASE_SYSTEM_ERROR_H_
#define KILN_COMPILER_BASE_SYSTEM_ERROR_H_

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Returns "<what>: <message of the system>". The code is Internal if the machine lacks memory,
// space or the like, so that the same command may succeed later. Otherwise it is InvalidArgument:
// the path is wrong.
inline absl::Status SystemError(absl::string_view what, int error) {
  const std::string text = absl::StrCat(what, ": ", std::strerror(error));
  switch (error) {
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return absl::InternalError(text);
    default:
      return absl::InvalidArgumentError(text);
  }
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_SYSTEM_ERROR_H_
