// SPDX-License-Identifier: Apache-2.0
// FindBreach: the place at which a program breaks a rule, for the parser, which reports its
// position in the text. All other code calls VerifyProgram (passes.h).
#ifndef KILN_COMPILER_LOOP_VERIFY_H_
#define KILN_COMPILER_LOOP_VERIFY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

struct Breach {
  absl::Status status;             // the result of VerifyProgram
  size_t func = 0;                 // number of the function; the number of functions if the breach
                                   // is in none
  const StmtNode* stmt = nullptr;  // null if the breach is in no statement
};
Breach FindBreach(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_VERIFY_H_
