// SPDX-License-Identifier: Apache-2.0
// The metadata as JSON text, and back: ParseMetadataJson(MetadataJson(m), "") is m.
#ifndef KILN_METADATA_JSON_H_
#define KILN_METADATA_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// The metadata as indented JSON. Keys are the schema's field names, in the schema's order; every
// field of a message is there, except for messages that are absent. Numbers are numbers, 64-bit
// ones too.
std::string MetadataJson(const proto::Metadata& metadata);
// The same without blanks and line feeds.
std::string CompactMetadataJson(const proto::Metadata& metadata);

// Reads what MetadataJson has written, now or in an older version of the schema, as metadata of the
// current version: fields that are newer than the text keep their default values. The text is not
// trusted: what comes back has at least one function, counts that fit, and no negative size. Errors
// begin with `name`; FailedPrecondition, naming both versions, for a version that cannot be read;
// InvalidArgument for all else.
absl::StatusOr<proto::Metadata> ParseMetadataJson(absl::string_view text, absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_JSON_H_
