// SPDX-License-Identifier: Apache-2.0
// Tuning files on the command line.
#ifndef KILN_TOOLS_KILN_TUNING_OPTION_H_
#define KILN_TOOLS_KILN_TUNING_OPTION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/lower/lower.h"
#include "compiler/options/options.h"

namespace kiln::tools {

// Reads a tuning file.
absl::StatusOr<std::shared_ptr<const Tuning>> ReadTuning(const std::string& path);

// Notes on standard error if the tuning file used has no entry for a target or for any contraction.
void NoteWhatIsNotTuned(const CompileOptions& options, const Lowered& lowered);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TUNING_OPTION_H_
