// SPDX-License-Identifier: Apache-2.0
// Weights that a library stores as floats although the model file stores them in 8 bits or fewer.
#ifndef KILN_TOOLS_KILN_WIDENED_WEIGHTS_H_
#define KILN_TOOLS_KILN_WIDENED_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/frontend/common/narrow_weights.h"

namespace kiln::tools {

// Returns a text such as "2 weights that the model stores in 4 bits are stored as floats in the
// library: 131072 bytes instead of 16384". Empty if there is no such weight of 1,024 elements or
// more. `byte_constants` has the numbers of elements of the 8-bit constants after all passes
// (compiler/pipeline/byte_constants.h). A weight and a constant match if their numbers are equal.
// Each constant matches one weight.
std::string WidenedWeightsText(const frontend::NarrowWeights& weights,
                               const std::vector<int64_t>& byte_constants);

// Prints the text as a note to standard error.
void NoteWidenedWeights(const frontend::NarrowWeights& weights,
                        const std::vector<int64_t>& byte_constants);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_WIDENED_WEIGHTS_H_
