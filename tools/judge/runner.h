// SPDX-License-Identifier: Apache-2.0
// Runs a loaded model for many samples.
#ifndef KILN_TOOLS_JUDGE_RUNNER_H_
#define KILN_TOOLS_JUDGE_RUNNER_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/executor.h"
#include "tools/judge/samples.h"

namespace kiln::tools {

// Runs the model for every sample. `inputs` are keyed by index, and all have the same number of
// samples. The outputs are in the model's order.
absl::StatusOr<std::vector<Samples>> RunSamples(runtime::Executor& executor,
                                                const std::map<int, Samples>& inputs);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_RUNNER_H_
