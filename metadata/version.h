// SPDX-License-Identifier: Apache-2.0
// Versions of the schema in metadata.proto, as Metadata.version.
#ifndef KILN_METADATA_VERSION_H_
#define KILN_METADATA_VERSION_H_

#include <cstdint>

namespace kiln {

// The version that the compiler writes. It grows with every change of the schema or of the meaning
// of a field. metadata/testdata/README.md lists the files that a new version needs.
inline constexpr int32_t kMetadataVersion = 8;

// The oldest version that ParseMetadataJson reads. Later versions only added fields. In version 1,
// lifetimes of buffers counted calls differently.
inline constexpr int32_t kOldestMetadataVersion = 2;

}  // namespace kiln

#endif  // KILN_METADATA_VERSION_H_
