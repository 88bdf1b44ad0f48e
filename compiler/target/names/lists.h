// SPDX-License-Identifier: Apache-2.0
// Processors (-mcpu=) and features (-mattr=) by LLVM 19's names, sorted and separated by commas.
// Features that repeat a fact of the triple, such as 64bit-mode, are left out.
// compiler/codegen/llvm/names_test.cc compares the lists with LLVM's and prints the differences to
// a new version of LLVM.
#ifndef KILN_COMPILER_TARGET_NAMES_LISTS_H_
#define KILN_COMPILER_TARGET_NAMES_LISTS_H_

#include "absl/strings/string_view.h"

namespace kiln {

extern const absl::string_view kAArch64Processors, kAArch64Features;
extern const absl::string_view kArmProcessors, kArmFeatures;
extern const absl::string_view kRiscV32Processors, kRiscV64Processors, kRiscVFeatures;
// kX86Processors32 have no 64-bit mode.
extern const absl::string_view kX86Processors32, kX86Processors64, kX86Features;

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_NAMES_LISTS_H_
