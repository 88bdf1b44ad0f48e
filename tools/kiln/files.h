// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#ifndef KILN_TOOLS_KILN_FILES_H_
#define KILN_TOOLS_KILN_FILES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

// The bytes of a regular file; clear errors for a folder, a file that is empty, too large or not
// there.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Writes all files into `folder`, which is made if it is missing: either all of them are there in
// the end, or none has changed.
absl::Status WriteFiles(const std::string& folder, const std::map<std::string, std::string>& files);

// The same for one file; its folder is made if it is missing. InvalidArgument, beginning with
// `option`, if the path is that of a folder.
absl::Status WriteFile(absl::string_view option, const std::string& path, const std::string& bytes);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FILES_H_
