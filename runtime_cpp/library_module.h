// SPDX-License-Identifier: Apache-2.0
//
// The module of compiled code. It finds functions by symbol, in a shared object or in the program.
//
// FillPointers passes the runtime's functions to the code through pointer variables that the code
// declares (__TVMBackendAllocWorkspace…), so that the code links to no library.
//
// The system's loader holds its own lock while it runs constructors, and a constructor may load a
// model. Therefore this runtime holds no lock while it looks up a symbol.
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

// Variable of compiled code that holds its LibraryModule. Every library has it.
inline constexpr char kContextSymbol[] = "__tvm_module_ctx";

// Access to the symbols of a library.
struct SymbolSource {
  // Returns the address of a symbol, or null.
  std::function<void*(const std::string& name)> find;
  // Keeps the code loaded.
  std::shared_ptr<void> owner;
};

class LibraryModule final : public ModuleNode {
 public:
  // Makes a module and looks up the pointer variables of the code.
  static std::shared_ptr<LibraryModule> Create(SymbolSource symbols);
  ~LibraryModule() override;

  // Fills the pointer variables of the code. The code refers to this module by its
  // __tvm_module_ctx, so the same code can have only one module at a time. Does not look up
  // symbols.
  void FillPointers() const;

  absl::string_view type_key() const override { return "library"; }
  PackedFunc FindFunction(const std::string& name) override;
  std::vector<std::string> FunctionNames() const override;

  // Returns the address of a symbol, or null.
  void* FindSymbol(const std::string& name) const { return symbols_.find(name); }

  // For TVMBackendGetFuncFromEnv: finds a function of the imports, of the code itself, or a global
  // function. The module owns the handle.
  absl::StatusOr<PackedFuncPtr*> FunctionForCode(const std::string& name);

 private:
  // A pointer variable of the code, and its value.
  struct Pointer {
    void** variable;
    void* value;
  };

  explicit LibraryModule(SymbolSource symbols) : symbols_(std::move(symbols)) {}

  void AddPointer(const std::string& variable, void* value);
  absl::StatusOr<PackedFunc> LookUpForCode(const std::string& name) const;

  SymbolSource symbols_;
  std::vector<Pointer> pointers_;
  std::mutex mutex_;  // Guards functions_for_code_.
  std::map<std::string, std::unique_ptr<PackedFuncPtr>> functions_for_code_;
};

// Returns the library that `module` is or imports, directly or indirectly; null if there is none.
std::shared_ptr<LibraryModule> FindLibrary(const ModulePtr& module);

// Adds a function that libraries loaded after this call get in their pointer variable `__<name>`.
void AddContextFunction(const std::string& name, void* function);

// A library file that has passed the checks before loading. None of its code has run.
struct CheckedLibrary {
  LibraryFile file;
  std::optional<uint64_t> checksum;  // nullopt if the file has none or it was not checked.
};

absl::StatusOr<CheckedLibrary> CheckLibrary(const std::string& path, const LoadOptions& options);

// Loads the code. Every loaded file has one module, even if it is opened several times. Returns
// FailedPrecondition if the file is loaded already and has been written to since.
absl::StatusOr<std::shared_ptr<LibraryModule>> OpenLibrary(const CheckedLibrary& checked);

// Returns the size in bytes of the data symbol at `address`, or SIZE_MAX if it is unknown.
size_t SymbolBytes(const void* address);

// Adds a symbol to the system library. Returns AlreadyExists if the name has another address.
absl::Status RegisterSystemLibrarySymbol(const std::string& name, void* address);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_LIBRARY_MODULE_H_
