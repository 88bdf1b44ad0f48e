// SPDX-License-Identifier: Apache-2.0
//
// A model whose order of calls is compiled. One call of its entry function runs it.
//
// The entry `tvmgen_<module>___tvm_main__` takes the inputs and the outputs. If the model needs a
// workspace, a pool of constants and the workspace pools follow. In models of Kiln, the pool of
// constants is empty and there is one workspace pool.
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
  // `module` is or imports the library and its metadata. Returns NotFound, with the name of the
  // device, if `device` has no back end, and InvalidArgument if the model is for another device.
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
  NDArray constants_;                  // Pool of constants; empty in models of Kiln.
  std::vector<int64_t> pool_bytes_;    // Size of each workspace pool.
  std::vector<int64_t> pool_offsets_;  // Offset of each pool in the workspace.
  bool has_profile_hook_ = false;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_AOT_PROGRAM_H_
