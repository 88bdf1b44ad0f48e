// SPDX-License-Identifier: Apache-2.0
// A loaded model and many samples.
#ifndef KILN_TOOLS_KILN_RUN_SAMPLES_H_
#define KILN_TOOLS_KILN_RUN_SAMPLES_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/executor.h"
#include "tools/validate/samples.h"

namespace kiln::tools {

// Runs the model for every sample. `inputs` are by index and hold as many samples each; the outputs
// are in the order of the model's.
absl::StatusOr<std::vector<Samples>> RunSamples(runtime::Executor& executor,
                                                const std::map<int, Samples>& inputs);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUN_SAMPLES_H_
