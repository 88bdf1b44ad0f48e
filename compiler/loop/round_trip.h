// SPDX-License-Identifier: Apache-2.0
// Whether the text of a program reads back as the program; for all tests through which programs
// pass.
#ifndef KILN_COMPILER_LOOP_ROUND_TRIP_H_
#define KILN_COMPILER_LOOP_ROUND_TRIP_H_

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// An error, with the parser's message or the first line that differs, unless what the parser makes
// of the text prints as the same text and has the same constants and the same fingerprints of
// functions. The program must pass VerifyProgram.
absl::Status CheckRoundTrip(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_ROUND_TRIP_H_
