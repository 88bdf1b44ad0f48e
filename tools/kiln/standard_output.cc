// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

absl::Status CannotWrite() {
  return absl::InternalError(absl::StrCat("cannot write to standard output: ", strerror(errno)));
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || !absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      printable.push_back(c);
    } else {
      absl::StrAppend(&printable, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return printable;
}

absl::Status Print(absl::string_view text) {
  const std::string printable = Printable(text);
  const bool complete =
      std::fwrite(printable.data(), 1, printable.size(), stdout) == printable.size();
  return complete ? absl::OkStatus() : CannotWrite();
}

absl::Status FlushStandardOutput() {
  if (std::fflush(stdout) != 0) return CannotWrite();
  if (std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::InternalError("cannot write to standard output");
}

}  // namespace kiln::tools
