// SPDX-License-Identifier: Apache-2.0
//
// The module of compiled code: functions found by symbol, in a shared object or in the program
// itself.
//
// FillPointers hands the runtime's functions to the code through pointer variables that the code
// declares (__TVMBackendAllocWorkspace…), so that the code links to nothing.
//
// The system's loader holds a lock of its own while it runs constructors, and a constructor may load
// a model. Therefore no lock of this runtime is held while a symbol is looked up.
#ifndef KILN_RUNTIME_CPP_LIBRARY_MODULE_H_
#define KILN_RUNTIME_CPP_LIBRARY_MODULE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

// The variable of compiled code that holds its LibraryModule; every library has it.
inline constexpr char kContextSymbol[] = "__tvm_module_ctx";

// Where the symbols of a library are found.
struct SymbolSource {
  // The address of a symbol, or NULL.
  std::function<void*(const std::string& name)> find;
  // Keeps the code loaded.
  std::shared_ptr<void> owner;
};

class LibraryModule final : public ModuleNode {
 public:
  // Looks up the pointer variables of the code.
  static std::shared_ptr<LibraryModule> Create(SymbolSource symbols);
  ~LibraryModule() override;

  // Fills the pointer variables of the code. The code then knows this module by its
  // __tvm_module_ctx, so there may be only one at a time for the same code. Looks up no symbol.
  void FillPointers() const;

  absl::string_view type_key() const override { return "library"; }
  PackedFunc FindFunction(const std::string& name) override;
  std::vector<std::string> FunctionNames() const override;

  // The address of a symbol, or NULL.
  void* FindSymbol(const std::string& name) const { return symbols_.find(name); }

  // For TVMBackendGetFuncFromEnv: a function of the imports, of the code itself, or a global one.
  // The handle stays this module's.
  absl::StatusOr<PackedFuncPtr*> FunctionForCode(const std::string& name);

 private:
  // A pointer variable of the code, and what it gets.
  struct Pointer {
    void** variable;
    void* value;
  };

  explicit LibraryModule(SymbolSource symbols) : symbols_(std::move(symbols)) {}

  void AddPointer(const std::string& variable, void* value);
  absl::StatusOr<PackedFunc> LookUpForCode(const std::string& name) const;

  SymbolSource symbols_;
  std::vector<Pointer> pointers_;
  std::mutex mutex_;  // of what follows
  std::map<std::string, std::unique_ptr<PackedFuncPtr>> functions_for_code_;
};

// The library that `module` is or imports, directly or not; NULL if there is none.
std::shared_ptr<LibraryModule> FindLibrary(const ModulePtr& module);

// A further function `name` that libraries loaded from here on get in their pointer variable
// `__<name>`.
void AddContextFunction(const std::string& name, void* function);

// A library file that has passed the checks before loading; none of its code has run.
struct CheckedLibrary {
  LibraryFile file;
  std::optional<uint64_t> checksum;  // nullopt if it has none, or was not to be checked.
};

absl::StatusOr<CheckedLibrary> CheckLibrary(const std::string& path, const LoadOptions& options);

// Loads the code. Every loaded file has one module, however often it is opened.
// FailedPrecondition if the file is loaded already and has been written to since.
absl::StatusOr<std::shared_ptr<LibraryModule>> OpenLibrary(const CheckedLibrary& checked);

// Bytes of the data symbol at `address`, or SIZE_MAX if the system does not tell.
size_t SymbolBytes(const void* address);

// Adds a symbol to the system library. AlreadyExists if the name stands for another address.
absl::Status RegisterSystemLibrarySymbol(const std::string& name, void* address);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_MODULE_H_
