// SPDX-License-Identifier: Apache-2.0
//
// Makes memory present before its first use, so that a first run does not wait for a disk or for
// new pages.
#ifndef KILN_RUNTIME_CPP_PREFAULT_H_
#define KILN_RUNTIME_CPP_PREFAULT_H_

#include <cstddef>

namespace kiln::runtime {

// Reads all code and constants of the loaded object (a library or the program) that contains
// `address`. Does nothing if there is none.
void PrefaultObject(const void* address);

// Makes all pages of a block present. The content of the block is lost.
void PrefaultBlock(void* begin, size_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PREFAULT_H_
