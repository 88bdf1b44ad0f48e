// SPDX-License-Identifier: Apache-2.0
//
// Memory that is there before it is first used, so that a first run waits for no disk and no zeros.
#ifndef KILN_RUNTIME_CPP_PREFAULT_H_
#define KILN_RUNTIME_CPP_PREFAULT_H_

#include <cstddef>

namespace kiln::runtime {

// Reads all of the loaded object, a library or the program, that `address` is in: its code and its
// constants. Does nothing for an address that is in none.
void PrefaultObject(const void* address);

// Gives memory to all pages of a block, which hold nothing that is needed.
void PrefaultBlock(void* begin, size_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PREFAULT_H_
