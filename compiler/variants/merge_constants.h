// SPDX-License-Identifier: Apache-2.0
// MergeConstants: what functions hold in common is in the library once, such as the weights of a
// recurrent network whose steps are functions, or of a function that CPU variants have alike.
#ifndef KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_
#define KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_

#include <string>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln {

// Of constants with the same dtype, shape, alignment and bytes the first takes the place of all.
// Constants of one function stay apart, so that functions that are alike but for their constants
// stay alike (loop::ShareFunctions). Returns the constants that are left, without those that
// nothing reads, in the order in which they were; the programs read them and have no others.
//
// `programs` are one per CPU variant. Where two of them have different constants of one name, the
// later one is named after its variant too.
std::vector<loop::Constant> MergeConstants(const std::vector<std::string>& variants,
                                           const std::vector<loop::LoopProgram*>& programs);

// The name of the part of `function`, or of a constant, that belongs to a variant: "f_x86_64_v3".
std::string VariantName(const std::string& function, const std::string& variant);

}  // namespace kiln

#endif  // KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_
