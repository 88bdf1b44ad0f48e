// SPDX-License-Identifier: Apache-2.0
// Text of constant data; for the printer of programs.
#ifndef KILN_COMPILER_LOOP_PRINT_DATA_H_
#define KILN_COMPILER_LOOP_PRINT_DATA_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/loop/data.h"

namespace kiln::loop {

// "{42, "x", &symbol}"; long byte strings by their size and hash.
std::string ToString(const DataValue& value);
// Eight hexadecimal digits that tell contents apart: the 64-bit FNV-1a hash, folded to 32 bits.
std::string ShortHash(absl::string_view bytes);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PRINT_DATA_H_
