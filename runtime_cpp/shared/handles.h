// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_RUNTIME_CPP_SHARED_HANDLES_H_
#define KILN_RUNTIME_CPP_SHARED_HANDLES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/runtime.h"
#include "runtime_cpp/call_from_c.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/run_options.h"
#include "runtime_cpp/thread_pool.h"

// Handles of the C interface: structs that hold the C++ objects.
struct KilnModule {
  kiln::runtime::Module module;
};
struct KilnModel {
  kiln::runtime::Model model;
};
struct KilnExecutor {
  std::shared_ptr<kiln::runtime::Executor> executor;
};
struct KilnArray {
  kiln::runtime::NDArray array;
};
struct KilnCancellation {
  kiln::runtime::CancellationToken token;
};
struct KilnThreadPool {
  std::shared_ptr<kiln::runtime::ThreadPool> pool;
};

namespace kiln::runtime::c_api {

// Runs the body of a function of the C interface. If a pointer in `pointers` is null, the body
// returns an error or throws, returns the code and stores the text for KilnLastError.
template <typename Function>
KilnCode Call(const char* name, std::initializer_list<NamedPointer> pointers,
              const Function& function) {
  return static_cast<KilnCode>(CodeOfCall(name, pointers, function));
}

// Stores the value in a new handle, which the caller owns.
template <typename Handle, typename T>
absl::Status Return(absl::StatusOr<T> value, Handle** handle) {
  if (!value.ok()) return value.status();
  *handle = new Handle{*std::move(value)};
  return absl::OkStatus();
}

inline absl::Status Return(const absl::StatusOr<int>& value, int32_t* result) {
  if (!value.ok()) return value.status();
  *result = *value;
  return absl::OkStatus();
}

}  // namespace kiln::runtime::c_api

#endif  // KILN_RUNTIME_CPP_SHARED_HANDLES_H_
