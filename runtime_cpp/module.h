// SPDX-License-Identifier: Apache-2.0
//
// A module: functions that are found by name, and the modules that it imports.
//
// A compiled model is a tree of modules. Its root is an executor factory. Load it from a shared
// object, or get it from the program if the model is statically linked.
//
//   absl::StatusOr<Module> factory = Module::LoadFromFile("my_mod.so");
//   absl::StatusOr<Value> executor = (*factory)["my_mod"](DLDevice{kDLCPU, 0});
//
// Model (model.h) and Executor (executor.h) are the typed interfaces.
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

// Interface of a kind of module. A node is always owned by a ModulePtr.
class ModuleNode : public std::enable_shared_from_this<ModuleNode> {
 public:
  virtual ~ModuleNode() = default;

  // Name of the kind: "AotExecutorFactory", "library"…
  virtual absl::string_view type_key() const = 0;

  // Returns a function of this module, without its imports; undefined if there is none.
  virtual PackedFunc FindFunction(const std::string& name) = 0;

  // Returns the names of the functions of this module, without its imports.
  virtual std::vector<std::string> FunctionNames() const = 0;

  const std::vector<ModulePtr>& imports() const { return imports_; }
  void Import(ModulePtr module) { imports_.push_back(std::move(module)); }

  // Visits this module and all modules that it imports, each once, depth first, until `visit`
  // returns true.
  void VisitTree(const std::function<bool(ModuleNode&)>& visit);

  // Like FindFunction, but also searches the imports in the order of VisitTree.
  PackedFunc FindFunctionInTree(const std::string& name);

 private:
  std::vector<ModulePtr> imports_;
};

// Decides if a library may be loaded. It is called with the path as passed by the caller and all
// bytes of the file, which are valid only during the call. Loads in several threads call it at the
// same time. If the file is truncated during the call, the process ends with SIGBUS.
using LibraryVerifier =
    std::function<absl::Status(const std::string& path, absl::string_view bytes)>;

// Options for loading a shared object.
struct LoadOptions {
  // If true, the checksum of the compiler is checked before the file is loaded. This reads the
  // whole file. Otherwise, only the parts that are used are read.
  bool check_checksum = true;
  // If set, called before any of the file is interpreted. If it returns an error, nothing is loaded
  // and LoadFromFile returns that error. The file that is loaded afterwards is the one that was
  // checked, even if its path has been replaced. RequireSignature of runtime_cpp/signature makes a
  // verifier.
  LibraryVerifier verify = nullptr;
};

class Module {
 public:
  // Makes an undefined module.
  Module() = default;
  explicit Module(ModulePtr node) : node_(std::move(node)) {}

  // Loads a shared object made by Kiln. This runs code of the library. A library without a
  // checksum, for example after `strip`, must be intact: damage inside of it is not detected.
  // Errors:
  //   NotFound            The file does not exist.
  //   PermissionDenied    The file may not be read, or not be executed in its location.
  //   InvalidArgument     The file is not a compiled model.
  //   DataLoss            The file is damaged, or was written to while it was loaded.
  //   FailedPrecondition  The CPU lacks a feature that the code needs, /proc is not mounted, or the
  //                       file was written to while a model of it is loaded.
  //   ResourceExhausted   There is not enough memory or address space, or too few file descriptors.
  // It also returns the errors of `options.verify`.
  static absl::StatusOr<Module> LoadFromFile(const std::string& path,
                                             const LoadOptions& options = {});

  // Returns the model that is linked into this program. `module_name` selects one of several
  // models. Symbols are then first looked up with the prefix "tvmgen_<module_name>_". Returns
  // FailedPrecondition if the CPU lacks a feature that the code needs. A model with CPU variants
  // returns that error when it runs.
  static absl::StatusOr<Module> SystemLib(const std::string& module_name = "");

  bool defined() const { return node_ != nullptr; }
  absl::string_view type_key() const { return node_->type_key(); }

  // Returns a function. NotFound if there is none. Every module has "get_func_names", which returns
  // the names as one string, one per line.
  absl::StatusOr<PackedFunc> GetFunction(const std::string& name, bool query_imports = false) const;

  // Like GetFunction, for expressions: if there is no such function, the call of the result fails.
  PackedFunc operator[](const std::string& name) const;

  std::vector<std::string> FunctionNames() const { return node_->FunctionNames(); }
  const std::vector<ModulePtr>& imports() const { return node_->imports(); }

  // Lets functions of this module use those of `module`. Returns InvalidArgument if `module`
  // imports this module.
  absl::Status Import(const Module& module) const;

  const ModulePtr& node() const { return node_; }
  operator const ModulePtr&() const { return node_; }  // NOLINT(google-explicit-constructor)

 private:
  ModulePtr node_;
};

// Makes a module from the bytes that a compiler saved for it. It must consume exactly these bytes.
using ModuleLoader = std::function<absl::StatusOr<ModulePtr>(ByteReader& reader)>;

// Lets LoadFromFile and SystemLib load modules of a kind that is not built in, such as those of an
// external code generator. Returns AlreadyExists if `type_key` has a loader.
absl::Status RegisterModuleLoader(absl::string_view type_key, ModuleLoader loader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODULE_H_
