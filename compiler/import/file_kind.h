// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_IMPORT_FILE_KIND_H_
#define KILN_COMPILER_IMPORT_FILE_KIND_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln {

// An error that says what a file is and what to do with it, for kinds of files that are often taken
// for a model; OK for what may be one.
absl::Status CheckMayBeModel(absl::string_view bytes);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_FILE_KIND_H_
