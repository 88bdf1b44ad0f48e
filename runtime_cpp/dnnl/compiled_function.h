// SPDX-License-Identifier: Apache-2.0
//
// One function of a dnnl module as oneDNN primitives.
//
//   absl::StatusOr<std::unique_ptr<CompiledFunction>> f =
//       CompiledFunction::Create(function, inputs, outputs, constants);
//   (*f)->Run(pointers of the inputs, pointers of the outputs);
#ifndef KILN_RUNTIME_CPP_DNNL_COMPILED_FUNCTION_H_
#define KILN_RUNTIME_CPP_DNNL_COMPILED_FUNCTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime_cpp/dnnl/format/program.pb.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {

class CompiledFunction {
 public:
  // Converts the constants into oneDNN's preferred layouts. They are not needed afterwards. Returns
  // DataLoss if layers and types are inconsistent, and Internal with oneDNN's text if it fails.
  static absl::StatusOr<std::unique_ptr<CompiledFunction>> Create(
      const dnnl::proto::Function& function, const std::vector<TensorInfo>& inputs,
      const std::vector<TensorInfo>& outputs, absl::Span<const NDArray> constants);

  // The pointers refer to compact tensors of the types that were passed to Create. Thread-safe.
  absl::Status Run(absl::Span<void* const> inputs, absl::Span<void* const> outputs) const;

 private:
  friend class FunctionCompiler;

  // Location of a primitive's memory during a run.
  enum class Place { kInput, kOutput, kConstant, kWorkspace, kScratch };
  struct Buffer {
    ::dnnl::memory::desc desc;
    Place place;
    size_t index;  // Number of the input, output or constant; offset in the workspace; or 0.
  };
  struct Step {
    ::dnnl::primitive primitive;
    std::vector<std::pair<int, size_t>> arguments;  // DNNL_ARG_… and number of the buffer.
  };

  CompiledFunction() = default;

  std::vector<Buffer> buffers_;
  std::vector<::dnnl::memory> constants_;
  std::vector<Step> steps_;
  size_t workspace_bytes_ = 0;  // Size of the results inside of the function.
  size_t scratch_bytes_ = 0;    // Size of the scratch memory of a primitive, which follows them.
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DNNL_COMPILED_FUNCTION_H_
