// SPDX-License-Identifier: Apache-2.0
// What `--allow` has come to.
#ifndef KILN_TOOLS_KILN_ALLOWANCES_H_
#define KILN_TOOLS_KILN_ALLOWANCES_H_

#include "compiler/options/options.h"
#include "metadata/metadata.pb.h"

namespace kiln::tools {

// How many of the model's operators compute products of bfloat16, by their schedules.
int CountBFloat16Products(const proto::Metadata& metadata);

// Says on standard error where `--allow bf16` has no effect: on a target without an instruction for
// it, or on a model that has no such products.
void NoteWhatIsAllowedInVain(const CompileOptions& options, const proto::Metadata& metadata);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ALLOWANCES_H_
