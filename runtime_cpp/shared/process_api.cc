// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/runtime.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/run_observer.h"
#include "runtime_cpp/shared/arguments.h"
#include "runtime_cpp/shared/handles.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/thread_pool.h"
#include "runtime_cpp/workspaces.h"
#include "tvm/runtime/c_runtime_api.h"

using kiln::runtime::IdleWorkspaceBytes;
using kiln::runtime::LoadOptions;
using kiln::runtime::Module;
using kiln::runtime::RunEvent;
using kiln::runtime::SetIdleWorkspaceLimit;
using kiln::runtime::SetRunObserver;
using kiln::runtime::ThreadPool;
using kiln::runtime::TrimWorkspaces;
using kiln::runtime::c_api::Call;
using kiln::runtime::c_api::LoadOptionsOf;
using kiln::runtime::c_api::Return;

const char* KilnLastError() { return TVMGetLastError(); }

const char* KilnRuntimeVersion() { return KILN_VERSION; }

KilnCode KilnModuleLoad(const char* path, const KilnLoadOptions* options, KilnModule** module) {
  return Call(__func__, {{"path", path}, {"module", module}}, [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const LoadOptions known, LoadOptionsOf(options));
    return Return(Module::LoadFromFile(path, known), module);
  });
}

KilnCode KilnModuleSystemLib(const char* name, KilnModule** module) {
  return Call(__func__, {{"module", module}},
              [&] { return Return(Module::SystemLib(name == nullptr ? "" : name), module); });
}

void KilnModuleFree(KilnModule* module) { delete module; }

KilnCode KilnCancellationCreate(KilnCancellation** cancellation) {
  return Call(__func__, {{"cancellation", cancellation}}, [&] {
    *cancellation = new KilnCancellation;
    return absl::OkStatus();
  });
}

void KilnCancellationCancel(KilnCancellation* cancellation) {
  if (cancellation != nullptr) cancellation->token.Cancel();
}

void KilnCancellationReset(KilnCancellation* cancellation) {
  if (cancellation != nullptr) cancellation->token.Reset();
}

void KilnCancellationFree(KilnCancellation* cancellation) { delete cancellation; }

KilnCode KilnThreadPoolCreate(int32_t num_threads, const int32_t* cpus, int32_t num_cpus,
                              KilnThreadPool** pool) {
  return Call(__func__, {{"pool", pool}}, [&]() -> absl::Status {
    if (num_cpus < 0 || (num_cpus > 0 && cpus == nullptr)) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", num_cpus, " CPUs", cpus == nullptr ? " at NULL" : ""));
    }
    return Return(ThreadPool::Create({.num_threads = num_threads, .cpus = {cpus, cpus + num_cpus}}),
                  pool);
  });
}

void KilnThreadPoolFree(KilnThreadPool* pool) { delete pool; }

KilnCode KilnSetRunObserver(KilnRunObserver observer, void* context) {
  return Call(__func__, {}, [&] {
    if (observer == nullptr) {
      SetRunObserver(nullptr);
      return absl::OkStatus();
    }
    SetRunObserver([observer, context](const RunEvent& run) {
      const std::string model(run.model), message(run.status.message());
      KilnRunEvent event = {};
      event.struct_size = sizeof(event);
      event.model = model.c_str();
      event.code = static_cast<KilnCode>(run.status.code());
      event.message = message.c_str();
      event.seconds = run.seconds;
      event.parallel_operators = run.parallel_operators;
      event.without_threads = run.without_threads;
      observer(context, &event);
    });
    return absl::OkStatus();
  });
}

void KilnStringFree(char* text) { delete[] text; }

KilnCode KilnSetNumThreads(int32_t num_threads) {
  return Call(__func__, {}, [&] { return ThreadPool::Global().SetNumThreads(num_threads); });
}

int32_t KilnNumThreads() { return ThreadPool::Global().num_threads(); }

uint64_t KilnIdleWorkspaceBytes() { return IdleWorkspaceBytes(); }

uint64_t KilnTrimWorkspaces() { return TrimWorkspaces(); }

KilnCode KilnSetIdleWorkspaceLimit(uint64_t bytes) {
  return Call(__func__, {}, [&] {
    SetIdleWorkspaceLimit(bytes);
    return absl::OkStatus();
  });
}
