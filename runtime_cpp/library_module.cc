// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_module.h"

#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/metadata.h"
#include "runtime_cpp/registry.h"
#include "runtime_cpp/status/macros.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::runtime {
namespace {

struct ContextFunctions {
  std::mutex mutex;
  std::map<std::string, void*> functions = {
      {"TVMAPISetLastError", reinterpret_cast<void*>(&TVMAPISetLastError)},
      {"TVMBackendAllocWorkspace", reinterpret_cast<void*>(&TVMBackendAllocWorkspace)},
      {"TVMBackendFreeWorkspace", reinterpret_cast<void*>(&TVMBackendFreeWorkspace)},
      {"TVMBackendGetFuncFromEnv", reinterpret_cast<void*>(&TVMBackendGetFuncFromEnv)},
      {"TVMBackendParallelBarrier", reinterpret_cast<void*>(&TVMBackendParallelBarrier)},
      {"TVMBackendParallelLaunch", reinterpret_cast<void*>(&TVMBackendParallelLaunch)},
      {"TVMFuncCall", reinterpret_cast<void*>(&TVMFuncCall)},
  };
};

ContextFunctions& GlobalContextFunctions() {
  static ContextFunctions* const functions = new ContextFunctions;
  return *functions;
}

// Returns a copy, so that the mutex is not held while symbols are looked up.
std::map<std::string, void*> AllContextFunctions() {
  ContextFunctions& context = GlobalContextFunctions();
  const std::lock_guard<std::mutex> lock(context.mutex);
  return context.functions;
}

// True for symbols of data, which must not be called.
bool IsReserved(const std::string& name) {
  return absl::StartsWith(name, "__tvm_") || absl::StartsWith(name, "__TVM") ||
         absl::StartsWith(name, "__kiln_");
}

}  // namespace

void AddContextFunction(const std::string& name, void* function) {
  ContextFunctions& context = GlobalContextFunctions();
  const std::lock_guard<std::mutex> lock(context.mutex);
  context.functions[name] = function;
}

std::shared_ptr<LibraryModule> LibraryModule::Create(SymbolSource symbols) {
  std::shared_ptr<LibraryModule> module(new LibraryModule(std::move(symbols)));
  for (const auto& [name, function] : AllContextFunctions()) {
    module->AddPointer(absl::StrCat("__", name), function);
  }
  module->AddPointer(kContextSymbol, static_cast<ModuleNode*>(module.get()));
  return module;
}

void LibraryModule::AddPointer(const std::string& variable, void* value) {
  auto* const address = static_cast<void**>(FindSymbol(variable));
  if (address != nullptr) pointers_.push_back({address, value});
}

void LibraryModule::FillPointers() const {
  for (const Pointer& pointer : pointers_) *pointer.variable = pointer.value;
}

LibraryModule::~LibraryModule() = default;

PackedFunc LibraryModule::FindFunction(const std::string& name) {
  void* const symbol = IsReserved(name) ? nullptr : FindSymbol(name);
  if (symbol == nullptr) return PackedFunc();
  return PackedFunc::FromBackend(reinterpret_cast<TVMBackendPackedCFunc>(symbol),
                                 shared_from_this(), name);
}

std::vector<std::string> LibraryModule::FunctionNames() const {
  std::vector<std::string> names;
  for (const char* const name :
       {"get_model_metadata", "get_c_metadata", "cpu_variant", "set_cpu_variant"}) {
    if (FindSymbol(name) != nullptr) names.push_back(name);
  }
  void* const getter = FindSymbol("get_model_metadata");
  if (getter == nullptr) return names;
  TVMValue value = {.v_int64 = 0};
  int code = kTVMNullptr;
  if (reinterpret_cast<TVMBackendPackedCFunc>(getter)(nullptr, nullptr, 0, &value, &code,
                                                      nullptr) != 0 ||
      code != kTVMOpaqueHandle) {
    return names;
  }
  const auto* const metadata = static_cast<const struct ::Metadata*>(value.v_handle);
  if (metadata->version != KILN_METADATA_VERSION) return names;
  // The first function is the entry. A graph has no entry, so its name is empty.
  for (int32_t i = 0; i < metadata->num_functions; ++i) {
    const std::string name = metadata->functions[i].function_name;
    if (!name.empty() && FindSymbol(name) != nullptr) names.push_back(name);
  }
  return names;
}

absl::StatusOr<PackedFuncPtr*> LibraryModule::FunctionForCode(const std::string& name) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = functions_for_code_.find(name);
    if (found != functions_for_code_.end()) return found->second.get();
  }
  KILN_ASSIGN_OR_RETURN(const PackedFunc function, LookUpForCode(name));
  auto body = std::make_unique<PackedFuncPtr>(function.body());
  const std::lock_guard<std::mutex> lock(mutex_);
  // If another thread was faster, the code keeps the function of that thread.
  return functions_for_code_.emplace(name, std::move(body)).first->second.get();
}

absl::StatusOr<PackedFunc> LibraryModule::LookUpForCode(const std::string& name) const {
  for (const ModulePtr& module : imports()) {
    PackedFunc function = module->FindFunctionInTree(name);
    if (function.defined()) return function;
  }
  void* const own = IsReserved(name) ? nullptr : FindSymbol(name);
  if (own == nullptr) return GetGlobalFunction(name);
  // The module owns the function, so the function must not own the module.
  return PackedFunc::FromBackend(reinterpret_cast<TVMBackendPackedCFunc>(own), nullptr, name);
}

std::shared_ptr<LibraryModule> FindLibrary(const ModulePtr& module) {
  std::shared_ptr<LibraryModule> library;
  module->VisitTree([&](ModuleNode& node) {
    library = std::dynamic_pointer_cast<LibraryModule>(node.shared_from_this());
    return library != nullptr;
  });
  return library;
}

}  // namespace kiln::runtime
