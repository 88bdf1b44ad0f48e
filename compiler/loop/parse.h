// SPDX-License-Identifier: Apache-2.0
// Reads the text of loop programs (docs/loop_ir.md), so that passes and code generators can be
// tested from text to text.
//
//   KILN_ASSIGN_OR_RETURN(LoopProgram program, ParseProgram(R"(
//   operator relu(x: float32[16]) -> (y: float32[16]) {
//     for i in 0..16 vectorized {
//       y[i] = max(x[i], 0f32)
//     }
//   }
//   )"));
//
// The output of ToString reads back as the same program, except that subexpressions shared by
// several statements are made separately for each. Nodes are made as they are written: nothing is
// folded.
#ifndef KILN_COMPILER_LOOP_PARSE_H_
#define KILN_COMPILER_LOOP_PARSE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

struct ParseOptions {
  std::string file_name = "loops";  // prefix of errors
  // Returns the bytes that have this hash (print_data.h), because the text shows large constants by
  // their hash. Returns null if they are not known.
  std::function<const std::string*(absl::string_view hash)> contents = nullptr;
};

// The text is untrusted. Returns InvalidArgument, beginning with file, line and column, if it does
// not parse or VerifyProgram rejects it.
absl::StatusOr<LoopProgram> ParseProgram(absl::string_view text, const ParseOptions& options = {});

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_H_
