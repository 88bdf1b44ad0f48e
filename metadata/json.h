// SPDX-License-Identifier: Apache-2.0
// Conversion of metadata to JSON and back: ParseMetadataJson(MetadataJson(m), "") is m.
#ifndef KILN_METADATA_JSON_H_
#define KILN_METADATA_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Returns the metadata as indented JSON. Keys are the schema's field names in the schema's order.
// Every field of a message is written; an absent message is left out. All numbers are JSON numbers,
// including 64-bit ones.
std::string MetadataJson(const proto::Metadata& metadata);
// Returns the same JSON on one line, without blanks between tokens.
std::string CompactMetadataJson(const proto::Metadata& metadata);

// Parses text that MetadataJson wrote with this or an older version of the schema, and returns
// metadata of the current version. Fields that are newer than the text have their default values.
// The text is not trusted: the result satisfies CheckMetadata. Errors begin with `name`.
// FailedPrecondition, naming both versions, if the version cannot be read; InvalidArgument for all
// other errors.
absl::StatusOr<proto::Metadata> ParseMetadataJson(absl::string_view text, absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_JSON_H_
