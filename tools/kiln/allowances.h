// SPDX-License-Identifier: Apache-2.0
// Effects of the option `--allow`.
#ifndef KILN_TOOLS_KILN_ALLOWANCES_H_
#define KILN_TOOLS_KILN_ALLOWANCES_H_

#include "compiler/options/options.h"
#include "metadata/metadata.pb.h"

namespace kiln::tools {

// Returns the number of the model's operators that compute products of bfloat16, according to their
// schedules.
int CountBFloat16Products(const proto::Metadata& metadata);

// Notes on standard error if `--allow bf16` has no effect, because the target has no instruction
// for it or the model has no such products.
void NoteWhatIsAllowedInVain(const CompileOptions& options, const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ALLOWANCES_H_
