// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_LIBRARY_NOTES_H_
#define KILN_METADATA_LIBRARY_NOTES_H_

#include <string>

#include "metadata/metadata.pb.h"

namespace kiln {

// Returns the contents of the section KILN_NOTE_SECTION (kiln/library_notes.h) of a model's shared
// object. Readers use the notes before any code of the library may run. Numbers are little endian,
// as on all machines that libraries are compiled for. The section is aligned to 4 bytes.
std::string LibraryNotes(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_LIBRARY_NOTES_H_
