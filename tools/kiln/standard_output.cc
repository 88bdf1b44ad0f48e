// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

absl::Status CannotWrite() {
  return absl::InternalError(absl::StrCat("cannot write to standard output: ", strerror(errno)));
}

}  // namespace

absl::Status Print(absl::string_view text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return complete ? absl::OkStatus() : CannotWrite();
}

absl::Status FlushStandardOutput() {
  if (std::fflush(stdout) != 0) return CannotWrite();
  if (std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::InternalError("cannot write to standard output");
}

}  // namespace kiln::tools
