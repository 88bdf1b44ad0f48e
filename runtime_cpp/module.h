// SPDX-License-Identifier: Apache-2.0
//
// A module: functions by name, and the modules that it uses.
//
// A compiled model is a tree of modules whose root is an executor factory. Load it from a shared
// object, or take it from the program itself where the model is statically linked.
//
//   absl::StatusOr<Module> factory = Module::LoadFromFile("my_mod.so");
//   absl::StatusOr<Value> executor = (*factory)["my_mod"](DLDevice{kDLCPU, 0});
//
// Use Model (model.h) or Executor (executor.h) for the typed form of the same.
#ifndef KILN_RUNTIME_CPP_MODULE_H_
#define KILN_RUNTIME_CPP_MODULE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/packed_func.h"

namespace kiln::runtime {

class Module;

// What a kind of module implements. Always held by a ModulePtr.
class ModuleNode : public std::enable_shared_from_this<ModuleNode> {
 public:
  virtual ~ModuleNode() = default;

  // Names the kind: "AotExecutorFactory", "library"…
  virtual absl::string_view type_key() const = 0;

  // A function of this module alone; not defined if there is none of the name.
  virtual PackedFunc FindFunction(const std::string& name) = 0;

  // Names of the functions of this module alone.
  virtual std::vector<std::string> FunctionNames() const = 0;

  const std::vector<ModulePtr>& imports() const { return imports_; }
  void Import(ModulePtr module) { imports_.push_back(std::move(module)); }

  // Visits this module and all that it imports, each once, depth first, until `visit` returns true.
  void VisitTree(const std::function<bool(ModuleNode&)>& visit);

  // Like FindFunction, then through the imports in the order of VisitTree.
  PackedFunc FindFunctionInTree(const std::string& name);

 private:
  std::vector<ModulePtr> imports_;
};

// Says whether a library may be loaded. Called with the path as it was given and all bytes of the
// file, which are valid during the call alone. Loads in several threads call it at the same time. To
// cut the file off meanwhile ends the process (SIGBUS).
using LibraryVerifier =
    std::function<absl::Status(const std::string& path, absl::string_view bytes)>;

// How a shared object is loaded.
struct LoadOptions {
  // If true, the checksum that the compiler wrote is checked before the file is loaded. It reads the
  // whole file, which without it is read as far as it is used.
  bool check_checksum = true;
  // Called, if it is set, before any of the file is interpreted. If it returns an error, nothing is
  // loaded and LoadFromFile returns that error. What is loaded afterwards is the file that was read,
  // even if another one has its path by then. RequireSignature of runtime_cpp/signature makes one.
  LibraryVerifier verify = nullptr;
};

class Module {
 public:
  // No module.
  Module() = default;
  explicit Module(ModulePtr node) : node_(std::move(node)) {}

  // Loads a shared object that Kiln has made, which runs code of it. A library without a checksum, as
  // strip leaves it, has to be whole: damage that lies within it is not noticed. Errors:
  //   NotFound            there is no such file
  //   PermissionDenied    the file may not be read, or not be executed where it lies
  //   InvalidArgument     it is something else
  //   DataLoss            it is damaged, or was written to while it was loaded
  //   FailedPrecondition  this CPU lacks what the code needs; the file was written to while a model
  //                       of it is loaded; or /proc is not mounted
  //   ResourceExhausted   memory, address space or file descriptors are lacking
  // or the error of `options.verify`.
  static absl::StatusOr<Module> LoadFromFile(const std::string& path,
                                             const LoadOptions& options = {});

  // The model that is linked into this program. Where there are several, `module_name` says which;
  // symbols are then looked up with the prefix "tvmgen_<module_name>_" first. FailedPrecondition if
  // this CPU lacks what the code needs; a model with CPU variants says that when it runs.
  static absl::StatusOr<Module> SystemLib(const std::string& module_name = "");

  bool defined() const { return node_ != nullptr; }
  absl::string_view type_key() const { return node_->type_key(); }

  // NotFound if there is no such function. Every module has "get_func_names", which returns the
  // names as one string, one per line.
  absl::StatusOr<PackedFunc> GetFunction(const std::string& name, bool query_imports = false) const;

  // The same for use in an expression: if there is no such function, the call fails.
  PackedFunc operator[](const std::string& name) const;

  std::vector<std::string> FunctionNames() const { return node_->FunctionNames(); }
  const std::vector<ModulePtr>& imports() const { return node_->imports(); }

  // Lets functions of this module use those of `module`. InvalidArgument if `module` uses this one.
  absl::Status Import(const Module& module) const;

  const ModulePtr& node() const { return node_; }
  operator const ModulePtr&() const { return node_; }  // NOLINT(google-explicit-constructor)

 private:
  ModulePtr node_;
};

// Makes a module of the bytes that a compiler saved for it, and consumes exactly these.
using ModuleLoader = std::function<absl::StatusOr<ModulePtr>(ByteReader& reader)>;

// Lets LoadFromFile and SystemLib load modules of a kind that is not built in, such as those of an
// external code generator. AlreadyExists if there is a loader for `type_key`.
absl::Status RegisterModuleLoader(absl::string_view type_key, ModuleLoader loader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODULE_H_
