// SPDX-License-Identifier: Apache-2.0
// metadata.json, the table of contents of an archive. docs/mlf_format.md has its keys.
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
struct ModuleDescription {
  std::string executor;
  std::string json;  // the whole entry, as an object
};
struct Description {
  std::map<std::string, ModuleDescription> modules;  // by their names
  int64_t export_time = 0;
};

// What the entry of a module says of it, as metadata: names, target, sizes. For modules that have
// no central metadata. `has_header`: whether they have the C interface.
absl::StatusOr<proto::Metadata> MetadataOfEntry(const std::string& name,
                                                const ModuleDescription& module, bool has_header);

// FailedPrecondition, naming both versions, for another version than kVersion; InvalidArgument for
// all else that is wrong.
absl::StatusOr<Description> ParseDescription(absl::string_view text);

}  // namespace kiln::mlf

#endif  // KILN_MLF_DESCRIPTION_H_
