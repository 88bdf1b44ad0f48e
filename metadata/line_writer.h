// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_LINE_WRITER_H_
#define KILN_METADATA_LINE_WRITER_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace kiln {

// A base for classes that write a file of C or C++ line by line.
class LineWriter {
 protected:
  template <typename... Args>
  void Line(const Args&... args) {
    absl::StrAppend(&text_, args..., "\n");
  }

  std::string text_;
};

}  // namespace kiln

#endif  // KILN_METADATA_LINE_WRITER_H_
