// SPDX-License-Identifier: Apache-2.0
// Writes and parses metadata.json, the table of contents of an archive. docs/mlf_format.md lists
// its keys.
#ifndef KILN_MLF_DESCRIPTION_H_
#define KILN_MLF_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlf/model_library.h"

namespace kiln::mlf {

// Returns the text of metadata.json for a library. All facts in it come from the metadata and
// graphs of the modules. InvalidArgument if a graph is damaged.
absl::StatusOr<std::string> DescriptionJson(const ModelLibrary& library);

// The parts of an entry that readers need.
struct ModuleDescription {
  std::string executor;
  std::string json;  // the whole entry, a JSON object
};
struct Description {
  std::map<std::string, ModuleDescription> modules;  // keyed by name
  int64_t export_time = 0;
};

// Returns the names, target and sizes in the entry of a module as metadata, for modules without
// central metadata. `has_header`: the module has the C interface.
absl::StatusOr<proto::Metadata> MetadataOfEntry(const std::string& name,
                                                const ModuleDescription& module, bool has_header);

// Parses metadata.json. FailedPrecondition, naming both versions, if the version is not kVersion.
// InvalidArgument for all other errors.
absl::StatusOr<Description> ParseDescription(absl::string_view text);

}  // namespace kiln::mlf

#endif  // KILN_MLF_DESCRIPTION_H_
