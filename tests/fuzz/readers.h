// SPDX-License-Identifier: Apache-2.0
// The readers of models, and of loop programs, as fuzzers and tests of damaged bytes call them:
// they read untrusted bytes and look at what comes out.
//
//   const absl::Status status = ReadOnnx(bytes);
//   status.ok()          // a model, and the graph is well formed: it verifies, its types are those
//                        // that InferTypes finds, and its text reads back as the same graph
//   IsHarmless(status)   // that, or an error that is the bytes' own fault
#ifndef KILN_TESTS_FUZZ_READERS_H_
#define KILN_TESTS_FUZZ_READERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kiln::fuzz {

// `folder`: of external data.
absl::Status ReadOnnx(absl::string_view bytes, const std::string& folder = "");
absl::Status ReadTflite(absl::string_view bytes);
absl::Status ReadRelayText(absl::string_view bytes);
// A loop program. What is printed reads back as the same program.
absl::Status ReadLoopText(absl::string_view bytes);

// No error, or one that says something and is not the compiler's own fault.
bool IsHarmless(const absl::Status& status);

}  // namespace kiln::fuzz

#endif  // KILN_TESTS_FUZZ_READERS_H_
