// SPDX-License-Identifier: Apache-2.0
// Reads the text of loop programs (docs/loop_ir.md), so that passes and code generators are tested
// text to text.
//
//   KILN_ASSIGN_OR_RETURN(LoopProgram program, ParseProgram(R"(
//   operator relu(x: float32[16]) -> (y: float32[16]) {
//     for i in 0..16 vectorized {
//       y[i] = max(x[i], 0f32)
//     }
//   }
//   )"));
//
// What ToString prints reads back as the same program, but that sub-expressions which several
// statements have in common are made for each of them. Nodes are made as they are written: nothing
// is folded.
#ifndef KILN_COMPILER_LOOP_PARSE_H_
#define KILN_COMPILER_LOOP_PARSE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/loop/loop.h"

namespace kiln::loop {

struct ParseOptions {
  std::string file_name = "loops";  // what errors begin with
  // The bytes that have this hash (print_data.h): the text of a large constant shows no more.
  // Nothing where they are not known.
  std::function<const std::string*(absl::string_view hash)> contents = nullptr;
};

// The text is untrusted. InvalidArgument, beginning with file, line and column, for one that does
// not parse or that VerifyProgram rejects.
absl::StatusOr<LoopProgram> ParseProgram(absl::string_view text, const ParseOptions& options = {});

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_PARSE_H_
