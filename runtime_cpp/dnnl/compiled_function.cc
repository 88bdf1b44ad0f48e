// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/dnnl/compiled_function.h"

#include <algorithm>
#include <unordered_map>

#include "runtime_cpp/device_api.h"
#include "runtime_cpp/dnnl/engine.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/workspace_pool.h"

namespace kiln::runtime {

absl::Status CompiledFunction::Run(absl::Span<void* const> inputs,
                                   absl::Span<void* const> outputs) const {
  KILN_ASSIGN_OR_RETURN(
      const ScopedWorkspace workspace,
      ScopedWorkspace::Allocate(kCpu, std::max<size_t>(1, workspace_bytes_ + scratch_bytes_)));
  const auto address = [&](const Buffer& buffer) -> void* {
    switch (buffer.place) {
      case Place::kInput:
        return inputs[buffer.index];
      case Place::kOutput:
        return outputs[buffer.index];
      case Place::kConstant:
        return constants_[buffer.index].get_data_handle();
      case Place::kWorkspace:
        return static_cast<char*>(workspace.data()) + buffer.index;
      case Place::kScratch:
        return static_cast<char*>(workspace.data()) + workspace_bytes_;
    }
    return nullptr;
  };
  return CatchDnnl([&] {
    ::dnnl::stream stream(DnnlEngine());
    for (const Step& step : steps_) {
      std::unordered_map<int, ::dnnl::memory> arguments;
      for (const auto& [argument, index] : step.arguments) {
        const Buffer& buffer = buffers_[index];
        arguments.emplace(argument, ::dnnl::memory(buffer.desc, DnnlEngine(), address(buffer)));
      }
      step.primitive.execute(stream, arguments);
    }
    stream.wait();
    return absl::OkStatus();
  });
}

}  // namespace kiln::runtime
