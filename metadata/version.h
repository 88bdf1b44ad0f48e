// SPDX-License-Identifier: Apache-2.0
// Versions of the schema in metadata.proto, as Metadata.version.
#ifndef KILN_METADATA_VERSION_H_
#define KILN_METADATA_VERSION_H_

#include <cstdint>

namespace kiln {

// What the compiler writes. It grows with every change of the schema or of what a field means;
// metadata/testdata/README.md says what comes with a new one.
inline constexpr int32_t kMetadataVersion = 8;

// The oldest that ParseMetadataJson reads: since then fields were only added. In version 1 the
// lifetimes of buffers counted other calls.
inline constexpr int32_t kOldestMetadataVersion = 2;

}  // namespace kiln

#endif  // KILN_METADATA_VERSION_H_
