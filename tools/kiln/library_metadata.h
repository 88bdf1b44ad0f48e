// SPDX-License-Identifier: Apache-2.0
// The metadata of a compiled library, read from the bytes of the file. The library is not loaded,
// so none of its code runs, and it may be for any machine.
#ifndef KILN_TOOLS_KILN_LIBRARY_METADATA_H_
#define KILN_TOOLS_KILN_LIBRARY_METADATA_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"

namespace kiln::tools {

// Reads the note KILN_NOTE_METADATA of a shared object. The bytes are untrusted. Errors begin with
// `name`. InvalidArgument if the bytes are not a complete shared object, or if they have no such
// note or two. Errors in the contents of the note are those of ParseMetadataJson.
absl::StatusOr<proto::Metadata> ReadLibraryMetadata(absl::string_view bytes,
                                                    absl::string_view name);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LIBRARY_METADATA_H_
