// SPDX-License-Identifier: Apache-2.0
// MergeConstants: stores constants that functions have in common once per library. Examples are the
// weights of a recurrent network whose steps are functions, and of a function with several CPU
// variants.
#ifndef KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_
#define KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_

#include <string>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln {

// Replaces constants with equal dtype, shape, alignment and bytes by the first of them. Equal
// constants of one function stay apart, so that functions which differ only in their constants stay
// alike (loop::ShareFunctions). Returns the remaining constants in their original order, without
// unread ones. The programs refer to them and have no constants of their own afterwards.
//
// There is one program per CPU variant. If two of them have different constants of one name, the
// name of the variant is appended to that of the later one.
std::vector<loop::Constant> MergeConstants(const std::vector<std::string>& variants,
                                           const std::vector<loop::LoopProgram*>& programs);

// The name of the copy of a function or constant that belongs to a variant: "f_x86_64_v3".
std::string VariantName(const std::string& function, const std::string& variant);

}  // namespace kiln

#endif  // KILN_COMPILER_VARIANTS_MERGE_CONSTANTS_H_
