// SPDX-License-Identifier: Apache-2.0
// metadata.json, the table of contents of an archive. SPEC.md has its keys.
#ifndef KILN_MLF_DESCRIPTION_H_
#define KILN_MLF_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlf/model_library.h"

namespace kiln::mlf {

// The text for a library. All of its facts are those of the modules' metadata and graphs.
// InvalidArgument if a graph is damaged.
absl::StatusOr<std::string> DescriptionJson(const ModelLibrary& library);

// What a reader needs of it.
struct Description {
  std::map<std::string, std::string> executors;  // by the modules' names
  int64_t export_time = 0;
};

// FailedPrecondition, naming both versions, for another version than kVersion; InvalidArgument for
// all else that is wrong.
absl::StatusOr<Description> ParseDescription(absl::string_view text);

}  // namespace kiln::mlf

#endif  // KILN_MLF_DESCRIPTION_H_
