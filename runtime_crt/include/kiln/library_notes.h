// SPDX-License-Identifier: Apache-2.0
//
// ELF notes in the shared object of a model: facts that are read from the file before any of its
// code runs. `readelf --notes` lists them.
//
// A program header of type PT_NOTE says where they are. The owner of each is KILN_NOTE_OWNER, and
// the type says what its descriptor holds. All descriptors are text without a NUL.
#ifndef KILN_LIBRARY_NOTES_H_
#define KILN_LIBRARY_NOTES_H_

#define KILN_NOTE_SECTION ".note.kiln"
#define KILN_NOTE_OWNER "Kiln"

// The CPU that the code needs: its name for LLVM, a line feed, and the names of features beyond the
// baseline of the architecture, separated by commas.
#define KILN_NOTE_CPU 1
// The metadata as JSON, as in metadata.json.
#define KILN_NOTE_METADATA 2

#endif  // KILN_LIBRARY_NOTES_H_
