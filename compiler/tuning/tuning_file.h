// SPDX-License-Identifier: Apache-2.0
// Tuning files: a Tuning as text, by protobuf's text format and the schema tuning.proto.
//
//   KILN_ASSIGN_OR_RETURN(const Tuning tuning, ParseTuning(text, "model.tuning"));
#ifndef KILN_COMPILER_TUNING_TUNING_FILE_H_
#define KILN_COMPILER_TUNING_TUNING_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/schedule/tuning.h"

namespace kiln {

inline constexpr int64_t kMaxTuningFileBytes = 16 << 20;

// Parses a tuning file; errors name it `file`. InvalidArgument, with line and column, for malformed
// text and unknown fields. InvalidArgument for a target or a contraction that occurs twice. The
// scheduler later checks that a choice fits its contraction.
absl::StatusOr<Tuning> ParseTuning(absl::string_view text, const std::string& file);

// Prints targets in their order and contractions sorted. Each line of `header` becomes a comment
// line at the beginning.
std::string PrintTuning(const Tuning& tuning, absl::string_view header);

}  // namespace kiln

#endif  // KILN_COMPILER_TUNING_TUNING_FILE_H_
