// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/runner.h"

#include "absl/types/span.h"
#include "compiler/base/status.h"
#include "runtime_cpp/ndarray.h"
#include "tools/kiln/library.h"

namespace kiln::tools {

absl::StatusOr<std::vector<Samples>> RunSamples(runtime::Executor& executor,
                                                const std::map<int, Samples>& inputs) {
  const int64_t count = inputs.empty() ? 1 : inputs.begin()->second.count;
  std::vector<Samples> outputs;
  for (const runtime::TensorInfo& info : executor.output_infos()) {
    outputs.push_back({.type = TypeOf(info), .count = count, .bytes = ""});
  }
  for (int64_t s = 0; s < count; ++s) {
    for (const auto& [index, samples] : inputs) {
      KILN_ASSIGN_OR_RETURN(const runtime::NDArray array, executor.GetInput(index));
      KILN_RETURN_IF_ERROR(array.CopyFromBytes(samples.sample(s)));
    }
    KILN_RETURN_IF_ERROR(executor.Run());
    for (int i = 0; i < executor.num_outputs(); ++i) {
      KILN_ASSIGN_OR_RETURN(const runtime::NDArray array, executor.GetOutput(i));
      const absl::Span<char> bytes = array.values<char>();
      outputs[static_cast<size_t>(i)].bytes.append(bytes.data(), bytes.size());
    }
  }
  return outputs;
}

}  // namespace kiln::tools
