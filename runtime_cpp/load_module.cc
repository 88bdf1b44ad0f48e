// SPDX-License-Identifier: Apache-2.0
//
// Makes the tree of modules of a library.
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime_cpp/const_loader.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/external_module.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/library_notes.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/module_blob.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

struct Loaders {
  std::mutex mutex;
  std::map<std::string, ModuleLoader, std::less<>> loaders = {
      {"AotExecutorFactory", LoadAotExecutorFactory},
      {"GraphExecutorFactory", LoadGraphExecutorFactory},
      {"GraphRuntimeFactory", LoadGraphExecutorFactory},
      {"const_loader", LoadConstLoaderModule},
      {"metadata", LoadConstLoaderModule},
      {"metadata_module", LoadMetadataModule},
  };
};

Loaders& GlobalLoaders() {
  static Loaders* const loaders = new Loaders;
  return *loaders;
}

absl::StatusOr<ModulePtr> LoadEntry(const std::string& type_key, ByteReader& payload) {
  Loaders& loaders = GlobalLoaders();
  ModuleLoader loader;
  {
    const std::lock_guard<std::mutex> lock(loaders.mutex);
    const auto found = loaders.loaders.find(type_key);
    if (found == loaders.loaders.end()) {
      std::string known;
      for (const auto& entry : loaders.loaders) {
        absl::StrAppend(&known, known.empty() ? "" : ", ", entry.first);
      }
      return absl::NotFoundError(
          absl::StrCat("the library holds a module of type '", type_key,
                       "', for which this program has no loader; it has loaders for ", known));
    }
    loader = found->second;
  }
  return loader(payload);
}

// The modules of one load before they import each other. It has the functions of the library
// itself, whose own imports another load of the same file may be setting at the same time.
class UnlinkedTree final : public ModuleNode {
 public:
  UnlinkedTree(ModulePtr library, const std::vector<ModulePtr>& modules)
      : library_(std::move(library)) {
    for (const ModulePtr& module : modules) {
      if (module != library_) Import(module);
    }
  }

  absl::string_view type_key() const override { return "unlinked_tree"; }
  PackedFunc FindFunction(const std::string& name) override { return library_->FindFunction(name); }
  std::vector<std::string> FunctionNames() const override { return library_->FunctionNames(); }

 private:
  ModulePtr library_;
};

// Passes the metadata of their functions to the modules of external code generators.
absl::Status GiveMetadata(const ModulePtr& library, const std::vector<ModulePtr>& modules) {
  std::vector<ExternalModuleNode*> externals;
  for (const ModulePtr& module : modules) {
    auto* const external = dynamic_cast<ExternalModuleNode*>(module.get());
    if (external != nullptr) externals.push_back(external);
  }
  if (externals.empty()) return absl::OkStatus();
  const Module tree(std::make_shared<UnlinkedTree>(library, modules));
  KILN_ASSIGN_OR_RETURN(const ModelMetadata metadata, ModelMetadata::Find(tree));
  for (ExternalModuleNode* const external : externals) {
    KILN_RETURN_IF_ERROR(external->TakeMetadata(metadata));
  }
  return absl::OkStatus();
}

// Makes the tree of modules of a library. If several threads load the same file, each makes its own
// modules, and all share `library`, which imports the modules of the first load.
absl::StatusOr<Module> LoadTree(const std::shared_ptr<LibraryModule>& library) {
  const auto* const blob = static_cast<const char*>(library->FindSymbol(kModuleBlobSymbol));
  if (blob == nullptr) return Module(library);
  const size_t limit = SymbolBytes(blob);
  if (limit < sizeof(uint64_t)) return absl::DataLossError("__tvm_dev_mblob has no length");
  ByteReader length({blob, sizeof(uint64_t)}, kModuleBlobSymbol);
  KILN_ASSIGN_OR_RETURN(const uint64_t size, length.U64());
  // If the size of the symbol is unknown, only the second condition checks the length.
  if (size > limit - sizeof(uint64_t) || size > std::numeric_limits<int64_t>::max()) {
    return absl::DataLossError(absl::StrCat(kModuleBlobSymbol, " says that ", size,
                                            " bytes follow; there are ", limit - sizeof(uint64_t)));
  }
  const auto prepare = [&](const std::vector<ModulePtr>& modules) {
    return GiveMetadata(library, modules);
  };
  KILN_ASSIGN_OR_RETURN(
      ModulePtr root, LoadModuleBlob({blob, size + sizeof(uint64_t)}, library, LoadEntry, prepare));
  return Module(std::move(root));
}

struct SystemLibrary {
  std::mutex mutex;
  std::map<std::string, void*> symbols;
  std::set<std::string> ambiguous;  // Names that several models registered; unusable for all.
  // Modules by the name that was passed to SystemLib. They are never removed: code refers to its
  // module by address.
  std::map<std::string, Module> modules;
};

SystemLibrary& GlobalSystemLibrary() {
  static SystemLibrary* const library = new SystemLibrary;
  return *library;
}

void* FindSystemSymbol(const std::string& name) {
  SystemLibrary& library = GlobalSystemLibrary();
  const std::lock_guard<std::mutex> lock(library.mutex);
  const auto found = library.symbols.find(name);
  const bool usable = found != library.symbols.end() && library.ambiguous.count(name) == 0;
  return usable ? found->second : nullptr;
}

// Returns the models that are linked in with prefixed names, as "'a', 'b'".
std::string LinkedModels() {
  SystemLibrary& library = GlobalSystemLibrary();
  const std::lock_guard<std::mutex> lock(library.mutex);
  std::vector<std::string> names;
  for (const auto& [symbol, address] : library.symbols) {
    absl::string_view name = symbol;
    if (absl::ConsumePrefix(&name, "tvmgen_") &&
        absl::ConsumeSuffix(&name, absl::StrCat("_", kModuleBlobSymbol))) {
      names.push_back(absl::StrCat("'", name, "'"));
    }
  }
  return absl::StrJoin(names, ", ");
}

absl::Status NoSuchModel(const std::string& module_name) {
  const std::string models = LinkedModels();
  if (module_name.empty() && !models.empty()) {
    return absl::NotFoundError(
        absl::StrCat("several models are linked into this program: ", models, "; name one"));
  }
  return absl::NotFoundError(
      absl::StrCat("model '", module_name, "' is not linked into this program",
                   models.empty() ? absl::StrCat(": none has registered ", kModuleBlobSymbol)
                                  : absl::StrCat("; it has ", models)));
}

// Checks the CPU for a model that is linked into the program. It has no notes, but its metadata
// list the features that its code needs. With CPU variants, its functions check the CPU.
absl::Status CheckCpuOfLinked(const Module& module) {
  const absl::StatusOr<ModelMetadata> metadata = ModelMetadata::Find(module);
  if (!metadata.ok() || !metadata->cpu_variants().empty()) return absl::OkStatus();
  return Annotate(CheckCpuFeatures(metadata->cpu(), {metadata->cpu_features().begin(),
                                                     metadata->cpu_features().end()}),
                  absl::StrCat("model '", metadata->module_name(), "' "));
}

}  // namespace

absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library) {
  return LoadModuleBlob(bytes, library, LoadEntry);
}

absl::Status RegisterModuleLoader(absl::string_view type_key, ModuleLoader loader) {
  Loaders& loaders = GlobalLoaders();
  const std::lock_guard<std::mutex> lock(loaders.mutex);
  if (loaders.loaders.emplace(type_key, std::move(loader)).second) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat("modules of type '", type_key, "' have a loader"));
}

absl::StatusOr<Module> Module::LoadFromFile(const std::string& path, const LoadOptions& options) {
  KILN_ASSIGN_OR_RETURN(const CheckedLibrary checked, CheckLibrary(path, options));
  KILN_ASSIGN_OR_RETURN(const std::shared_ptr<LibraryModule> library, OpenLibrary(checked));
  absl::StatusOr<Module> module = LoadTree(library);
  if (module.ok()) return module;
  return Annotate(module.status(), path + ": ");
}

absl::Status RegisterSystemLibrarySymbol(const std::string& name, void* address) {
  SystemLibrary& library = GlobalSystemLibrary();
  const std::lock_guard<std::mutex> lock(library.mutex);
  const auto [found, added] = library.symbols.emplace(name, address);
  if (added || found->second == address) return absl::OkStatus();
  library.ambiguous.insert(name);
  return absl::AlreadyExistsError(absl::StrCat("several models register '", name,
                                               "'; only with the prefix 'tvmgen_<module>_' do they "
                                               "fit into one program"));
}

absl::StatusOr<Module> Module::SystemLib(const std::string& module_name) {
  SystemLibrary& system = GlobalSystemLibrary();
  {
    const std::lock_guard<std::mutex> system_lock(system.mutex);
    const auto found = system.modules.find(module_name);
    if (found != system.modules.end()) return found->second;
    if (system.symbols.empty()) {
      return absl::NotFoundError("no model is linked into this program");
    }
  }
  const std::string prefix = absl::StrCat("tvmgen_", module_name, "_");
  const auto find = [named = !module_name.empty(), prefix](const std::string& name) {
    void* const own = named ? FindSystemSymbol(prefix + name) : nullptr;
    return own != nullptr ? own : FindSystemSymbol(name);
  };
  if (find(kModuleBlobSymbol) == nullptr) return NoSuchModel(module_name);
  const std::shared_ptr<LibraryModule> library =
      LibraryModule::Create({.find = find, .owner = nullptr});
  KILN_ASSIGN_OR_RETURN(const Module module, LoadTree(library));
  KILN_RETURN_IF_ERROR(CheckCpuOfLinked(module));
  const absl::StatusOr<ExecutorFactory> factory = ExecutorFactory::From(module);
  if (factory.ok() && !module_name.empty() && factory->module_names().front() != module_name) {
    return absl::NotFoundError(absl::StrCat("model '", module_name,
                                            "' is not linked into this program; '",
                                            factory->module_names().front(), "' is"));
  }
  const std::lock_guard<std::mutex> system_lock(system.mutex);
  const auto [found, added] = system.modules.emplace(module_name, module);
  // If another thread was faster, the code uses the module of that thread.
  if (added) library->FillPointers();
  return found->second;
}

}  // namespace kiln::runtime
