// SPDX-License-Identifier: Apache-2.0
// Check that the text of a program reads back as the program, for all tests that make programs.
#ifndef KILN_COMPILER_LOOP_ROUND_TRIP_H_
#define KILN_COMPILER_LOOP_ROUND_TRIP_H_

#include "absl/status/status.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

// Prints the program, parses the text and compares. The parsed program must print as the same text
// and have the same constants and fingerprints of functions. Otherwise returns an error with the
// parser's message or the first difference. The program must pass VerifyProgram.
absl::Status CheckRoundTrip(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_ROUND_TRIP_H_
