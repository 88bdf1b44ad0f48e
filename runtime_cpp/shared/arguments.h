// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_RUNTIME_CPP_SHARED_ARGUMENTS_H_
#define KILN_RUNTIME_CPP_SHARED_ARGUMENTS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/runtime.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/run_options.h"
#include "runtime_cpp/thread_pool.h"
#include "tvm/runtime/c_runtime_api.h"

// Conversion of arguments of the C interface to C++ values.
namespace kiln::runtime::c_api {

// NULL stands for the defaults, and for no pool. A struct of options may come from another version
// of the interface. It is an error if a newer version sets members that this version does not know.
absl::StatusOr<LoadOptions> LoadOptionsOf(const KilnLoadOptions* given);
absl::StatusOr<RunOptions> RunOptionsOf(const KilnRunOptions* given);
std::shared_ptr<ThreadPool> PoolOf(const KilnThreadPool* pool);

// Returns the caller's tensors. Errors call them `what`. The span refers to the array at `tensors`.
absl::StatusOr<absl::Span<const DLTensor* const>> TensorsOf(const DLTensor* const* tensors,
                                                            int32_t count, const char* what);

}  // namespace kiln::runtime::c_api

#endif  // KILN_RUNTIME_CPP_SHARED_ARGUMENTS_H_
