// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/module_blob.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

struct ImportTree {
  std::vector<uint64_t> row_ptr;
  std::vector<uint64_t> child;

  // Returns the imports of module `i`. CheckTree must have passed.
  absl::Span<const uint64_t> ImportsOf(size_t i) const {
    return absl::MakeConstSpan(child).subspan(row_ptr[i], row_ptr[i + 1] - row_ptr[i]);
  }
};

// Repeatedly removes modules that no remaining module imports. What remains has a cycle.
bool HasCycle(const ImportTree& tree, size_t num_modules) {
  std::vector<size_t> importers(num_modules);
  for (const uint64_t child : tree.child) ++importers[child];
  std::vector<size_t> ready;
  for (size_t i = 0; i < num_modules; ++i) {
    if (importers[i] == 0) ready.push_back(i);
  }
  size_t taken = 0;
  for (; !ready.empty(); ++taken) {
    const size_t module = ready.back();
    ready.pop_back();
    for (const uint64_t child : tree.ImportsOf(module)) {
      if (--importers[child] == 0) ready.push_back(child);
    }
  }
  return taken != num_modules;
}

absl::Status CheckTree(const ImportTree& tree, size_t num_modules, const ByteReader& reader) {
  if (tree.row_ptr.size() != num_modules + 1 || tree.row_ptr.front() != 0 ||
      tree.row_ptr.back() != tree.child.size() || !absl::c_is_sorted(tree.row_ptr)) {
    return reader.Error(absl::StrCat("the import tree does not fit ", num_modules, " modules"));
  }
  for (const uint64_t child : tree.child) {
    if (child >= num_modules) {
      return reader.Error(
          absl::StrCat("module ", child, " is imported, there are ", num_modules, " modules"));
    }
  }
  if (HasCycle(tree, num_modules)) return reader.Error("modules import each other in a cycle");
  return absl::OkStatus();
}

// Sets the imports of a library unless it has the modules of an earlier load.
void ImportOnce(const ModulePtr& library, const std::vector<ModulePtr>& modules) {
  // One mutex for all libraries is enough: no other function is called while it is held.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!library->imports().empty()) return;
  for (const ModulePtr& module : modules) library->Import(module);
}

}  // namespace

absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library,
                                         const BlobEntryLoader& load_entry,
                                         const BlobPreparer& prepare) {
  ByteReader reader(bytes, kModuleBlobSymbol);
  KILN_ASSIGN_OR_RETURN(const uint64_t size, reader.U64());
  if (size != reader.remaining()) {
    return reader.Error(
        absl::StrCat("says that ", size, " bytes follow; there are ", reader.remaining()));
  }
  KILN_ASSIGN_OR_RETURN(const uint64_t num_entries, reader.Count(sizeof(uint64_t)));
  if (num_entries > kMaxBlobModules) {
    return reader.Error(absl::StrCat(num_entries, " entries, at most ", kMaxBlobModules, " work"));
  }
  std::vector<ModulePtr> modules;
  ImportTree tree;
  bool has_tree = false;
  bool has_library = false;
  for (uint64_t i = 0; i < num_entries; ++i) {
    KILN_ASSIGN_OR_RETURN(const std::string key, reader.String());
    if (key == "_lib") {
      if (std::exchange(has_library, true)) return reader.Error("a second entry '_lib'");
      modules.push_back(library);
    } else if (key == "_import_tree") {
      if (std::exchange(has_tree, true)) return reader.Error("a second import tree");
      KILN_ASSIGN_OR_RETURN(tree.row_ptr, reader.U64s());
      KILN_ASSIGN_OR_RETURN(tree.child, reader.U64s());
    } else {
      KILN_ASSIGN_OR_RETURN(ModulePtr module, load_entry(key, reader));
      modules.push_back(std::move(module));
    }
  }
  if (reader.remaining() != 0) {
    return reader.Error(absl::StrCat(reader.remaining(), " bytes after the last entry"));
  }
  if (has_tree && modules.empty()) return reader.Error("an import tree without modules");
  if (has_tree) KILN_RETURN_IF_ERROR(CheckTree(tree, modules.size(), reader));
  if (prepare) KILN_RETURN_IF_ERROR(prepare(modules));
  if (!has_tree) {
    // The library imports all other modules.
    std::erase(modules, library);
    ImportOnce(library, modules);
    return library;
  }
  std::vector<ModulePtr> library_imports;
  for (size_t i = 0; i < modules.size(); ++i) {
    for (const uint64_t child : tree.ImportsOf(i)) {
      if (modules[i] == library) {
        library_imports.push_back(modules[child]);
      } else {
        modules[i]->Import(modules[child]);
      }
    }
  }
  ImportOnce(library, library_imports);
  return modules.front();
}

}  // namespace kiln::runtime
