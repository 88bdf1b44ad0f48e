// SPDX-License-Identifier: Apache-2.0
//
// Functions of the runtime that compiled code calls.
#include "tvm/runtime/c_backend_api.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "runtime_cpp/call_from_c.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/registry.h"
#include "runtime_cpp/run_scope.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/thread_pool.h"
#include "runtime_cpp/workspace_pool.h"

namespace kiln::runtime {
namespace {

// Finds a function for code that does not pass its module. The handle is kept until the program
// ends.
absl::StatusOr<PackedFuncPtr*> GlobalFunctionForCode(const std::string& name) {
  static std::mutex mutex;
  static auto* const functions = new std::map<std::string, PackedFuncPtr>;
  absl::StatusOr<PackedFunc> function = GetGlobalFunction(name);
  if (!function.ok()) return function.status();
  const std::lock_guard<std::mutex> lock(mutex);
  // An entry that code has seen must not change.
  return &functions->emplace(name, function->body()).first->second;
}

}  // namespace
}  // namespace kiln::runtime

using kiln::runtime::CallFromC;
using kiln::runtime::RunScope;
using kiln::runtime::ThreadPool;

int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out) {
  return CallFromC(__func__, {{"func_name", func_name}, {"out", out}}, [=] {
    auto* const node = static_cast<kiln::runtime::ModuleNode*>(mod_node);
    auto* const library = dynamic_cast<kiln::runtime::LibraryModule*>(node);
    const absl::StatusOr<kiln::runtime::PackedFuncPtr*> function =
        library != nullptr ? library->FunctionForCode(func_name)
                           : kiln::runtime::GlobalFunctionForCode(func_name);
    if (function.ok()) *out = *function;
    return function.status();
  });
}

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int, int) {
  void* result = nullptr;
  CallFromC([&] {
    const absl::StatusOr<void*> memory = kiln::runtime::WorkspacePool::ThisThread().Allocate(
        DLDevice{device_type, device_id}, nbytes);
    if (memory.ok()) result = *memory;
    return memory.status();
  });
  return result;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr) {
  return CallFromC([=] {
    return kiln::runtime::WorkspacePool::ThisThread().Free(DLDevice{device_type, device_id}, ptr);
  });
}

int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task) {
  return CallFromC(
      __func__, {{"flambda", reinterpret_cast<const void*>(flambda)}}, [=]() -> absl::Status {
        RunScope* const run = RunScope::Current();
        if (run == nullptr) {
          return ThreadPool::Global().Launch(flambda, cdata, num_task);
        }
        run->CountParallelOperator();
        KILN_RETURN_IF_ERROR(run->Check());
        ThreadPool& pool = run->pool() != nullptr ? *run->pool() : ThreadPool::Global();
        return pool.Launch(flambda, cdata, num_task);
      });
}

int TVMBackendParallelBarrier(int, TVMParallelGroupEnv* penv) {
  return CallFromC(__func__, {{"penv", penv}}, [=] {
    if (kiln::runtime::ThreadPool::Barrier(penv)) return absl::OkStatus();
    return absl::ResourceExhaustedError("a parallel task has no thread");
  });
}

int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int) {
  int result = 0;
  const int error = CallFromC(
      __func__, {{"handle", handle}, {"f", reinterpret_cast<const void*>(f)}}, [&, handle, f] {
        // One lock is enough, because generated code makes no nested calls for other handles.
        static std::mutex mutex;
        const std::lock_guard<std::mutex> lock(mutex);
        if (*handle != nullptr) return absl::OkStatus();
        result = f(cdata);
        if (result == 0) *handle = reinterpret_cast<void*>(1);
        return absl::OkStatus();
      });
  return error != 0 ? error : result;
}

int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr) {
  return CallFromC(__func__, {{"name", name}, {"ptr", ptr}},
                   [=] { return kiln::runtime::RegisterSystemLibrarySymbol(name, ptr); });
}

int TVMBackendRegisterEnvCAPI(const char* name, void* ptr) {
  return CallFromC(__func__, {{"name", name}}, [=] {
    kiln::runtime::AddContextFunction(name, ptr);
    return absl::OkStatus();
  });
}
