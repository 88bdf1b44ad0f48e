// SPDX-License-Identifier: Apache-2.0
// Where a program breaks a rule; for the parser, which says where that stands in the text. All else
// calls VerifyProgram (passes.h).
#ifndef KILN_COMPILER_LOOP_VERIFY_H_
#define KILN_COMPILER_LOOP_VERIFY_H_

#include <cstddef>

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

struct Breach {
  absl::Status status;             // of VerifyProgram
  size_t func = 0;                 // the function, or how many there are if it is in none
  const StmtNode* stmt = nullptr;  // null if it is in no statement
};
Breach FindBreach(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_VERIFY_H_
