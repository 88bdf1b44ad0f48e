// SPDX-License-Identifier: Apache-2.0
//
// A model whose order of calls is compiled: one call of its entry runs it.
//
// The entry `tvmgen_<module>___tvm_main__` takes the inputs, the outputs and, if the model needs a
// workspace, a pool of constants and the pools of the workspace. Kiln's models have no such
// constants and one pool.
#ifndef KILN_RUNTIME_CPP_AOT_PROGRAM_H_
#define KILN_RUNTIME_CPP_AOT_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/program.h"

namespace kiln::runtime {

class AotProgram final : public Program {
 public:
  // `module` is or imports the library and its metadata. NotFound, naming the device, if there is
  // no back end for it; InvalidArgument if the model is for another device.
  static absl::StatusOr<std::unique_ptr<Program>> Create(const Module& module, DLDevice device);

  absl::string_view executor() const override { return "aot"; }
  absl::Status Run(const RunMemory& memory) const override;
  absl::StatusOr<std::vector<OperatorTiming>> Profile(const RunMemory& memory) const override;

 private:
  AotProgram(ModelMetadata metadata, PackedFunc entry, DLDevice device)
      : Program(device), metadata_(std::move(metadata)), entry_(std::move(entry)) {}

  absl::Status PlacePools(const Module& module);

  ModelMetadata metadata_;
  PackedFunc entry_;
  NDArray constants_;                  // Empty or those of a model of another compiler.
  std::vector<int64_t> pool_bytes_;    // Of each pool of the workspace.
  std::vector<int64_t> pool_offsets_;  // In the workspace.
  bool has_profile_hook_ = false;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_AOT_PROGRAM_H_
