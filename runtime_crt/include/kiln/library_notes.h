// SPDX-License-Identifier: Apache-2.0
//
// ELF notes in the shared object of a model: facts that can be read from the file before any of its
// code runs. `readelf --notes` lists them.
//
// A program header of type PT_NOTE locates them. The owner of each note is KILN_NOTE_OWNER, and its
// type is one of the values below. Every descriptor is text without a terminating NUL.
#ifndef KILN_LIBRARY_NOTES_H_
#define KILN_LIBRARY_NOTES_H_

#define KILN_NOTE_SECTION ".note.kiln"
#define KILN_NOTE_OWNER "Kiln"

// The CPU that the code needs: LLVM's name of the CPU, a line feed, and the features that the code
// needs beyond the baseline of the architecture, separated by commas.
#define KILN_NOTE_CPU 1
// The metadata as JSON, as in metadata.json.
#define KILN_NOTE_METADATA 2

#endif  // KILN_LIBRARY_NOTES_H_
