// SPDX-License-Identifier: Apache-2.0
// Readers of models and loop programs for fuzzers and tests of damaged bytes. They read untrusted
// bytes and check the result.
//
//   const absl::Status status = ReadOnnx(bytes);
//   status.ok()          // a model with a well-formed graph: it verifies, its types are those
//                        // that InferTypes finds, and its text reads back as the same graph
//   IsHarmless(status)   // ok, or an error that the bytes caused
#ifndef KILN_TESTS_FUZZ_READERS_H_
#define KILN_TESTS_FUZZ_READERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln::fuzz {

// `folder` contains external data.
absl::Status ReadOnnx(absl::string_view bytes, const std::string& folder = "");
absl::Status ReadTflite(absl::string_view bytes);
absl::Status ReadRelayText(absl::string_view bytes);
// Reads a loop program. Its printed text must read back as the same program.
absl::Status ReadLoopText(absl::string_view bytes);

// True if there is no error, or an error with a text that is not the compiler's own fault.
bool IsHarmless(const absl::Status& status);

}  // namespace kiln::fuzz

#endif  // KILN_TESTS_FUZZ_READERS_H_
