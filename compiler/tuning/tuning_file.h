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

// `file` is what errors name. InvalidArgument, with line and column, for what is no such text or
// has a field that is not known, and for a target or a contraction that stands there twice. Whether
// a choice fits its contraction is known when that is scheduled.
absl::StatusOr<Tuning> ParseTuning(absl::string_view text, const std::string& file);

// Targets in their order, contractions sorted; `header` becomes a comment at the beginning, a line
// for each of its own.
std::string PrintTuning(const Tuning& tuning, absl::string_view header);

}  // namespace kiln

#endif  // KILN_COMPILER_TUNING_TUNING_FILE_H_
