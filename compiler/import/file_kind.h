// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_IMPORT_FILE_KIND_H_
#define KILN_COMPILER_IMPORT_FILE_KIND_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Returns an error for kinds of files that are often mistaken for a model. The error names the kind
// and what to do with the file. OK for all other files.
absl::Status CheckMayBeModel(absl::string_view bytes);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_FILE_KIND_H_
