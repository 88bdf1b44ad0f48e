// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_JSON_H_
#define KILN_METADATA_JSON_H_

#include <string>

#include "metadata/metadata.pb.h"

namespace kiln {

// The metadata as indented JSON. Keys are the schema's field names, in the schema's order; every
// field of a message is there, except for messages that are absent. Numbers are numbers, 64-bit
// ones too.
std::string MetadataJson(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_JSON_H_
