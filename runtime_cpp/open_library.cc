// SPDX-License-Identifier: Apache-2.0
//
// Opening of shared objects on disk.
#include <dlfcn.h>
#include <link.h>

#include <limits>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/dynamic_library.h"
#include "runtime_cpp/elf_check.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/module_blob.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

// Symbols of a library of a compiler of this ABI. It has at least one of them.
constexpr const char* kModelSymbols[] = {kModuleBlobSymbol, "__tvm_module_ctx",
                                         "get_model_metadata", "get_c_metadata"};

// Identifies the content of a file among all contents that its inode may have had.
struct Content {
  uint64_t bytes;
  int64_t modified_ns;
  std::optional<uint64_t> checksum;

  bool operator==(const Content& other) const {
    if (bytes != other.bytes) return false;
    const bool by_checksum = checksum.has_value() && other.checksum.has_value();
    return by_checksum ? checksum == other.checksum : modified_ns == other.modified_ns;
  }
};

struct OpenedLibrary {
  std::weak_ptr<LibraryModule> module;
  Content content;
};

// A module of a file that is in use; null if there is none.
struct ModuleInUse {
  std::shared_ptr<LibraryModule> module;
  Content content = {};
};

// Files that have a module. Opening a file again returns the same module, because the code can
// refer to only one module. The system's loader also has each file once.
//
// The system's loader has its own lock. A constructor that opens a library holds it. Therefore no
// code calls the loader, or destroys a module, while it holds the mutex.
struct OpenLibraries {
  // The mutex must be held. The caller must destroy the result after it has released the mutex,
  // because it may be the last reference to the module.
  ModuleInUse Find(LibraryFile::Identity identity) const {
    const auto found = libraries.find(identity);
    if (found == libraries.end()) return {};
    return {.module = found->second.module.lock(), .content = found->second.content};
  }

  std::mutex mutex;
  std::map<LibraryFile::Identity, OpenedLibrary> libraries;
};

OpenLibraries& GlobalOpenLibraries() {
  static OpenLibraries* const libraries = new OpenLibraries;
  return *libraries;
}

// Returns the module in use. FailedPrecondition if its content differs from that of `file`.
absl::StatusOr<std::shared_ptr<LibraryModule>> SameFile(ModuleInUse in_use, const LibraryFile& file,
                                                        const Content& content) {
  if (in_use.content == content) return std::move(in_use.module);
  return absl::FailedPreconditionError(absl::StrCat(
      file.path(), ": the file was written to while a model of it is loaded; replace a library ",
      "by renaming another file, or drop its models before it is written to"));
}

// Unmaps a library, and forgets its file if its module no longer exists.
void Close(LibraryFile::Identity identity, DynamicLibrary* library) {
  {
    OpenLibraries& open = GlobalOpenLibraries();
    const std::lock_guard<std::mutex> lock(open.mutex);
    const auto found = open.libraries.find(identity);
    if (found != open.libraries.end() && found->second.module.expired()) {
      open.libraries.erase(found);
    }
  }
  delete library;
}

}  // namespace

absl::StatusOr<CheckedLibrary> CheckLibrary(const std::string& path, const LoadOptions& options) {
  KILN_ASSIGN_OR_RETURN(LibraryFile file, LibraryFile::Open(path));
  // Verification comes first: the checksum and its position are contents of the file, too.
  if (options.verify) {
    KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, file.Bytes());
    KILN_RETURN_IF_ERROR(options.verify(path, bytes));
  }
  std::optional<uint64_t> checksum;
  if (options.check_checksum) {
    KILN_ASSIGN_OR_RETURN(checksum, CheckLibraryChecksum(file));
  }
  KILN_RETURN_IF_ERROR(CheckElf(file));
  KILN_RETURN_IF_ERROR(CheckCpu(file));
  return CheckedLibrary{.file = std::move(file), .checksum = checksum};
}

absl::StatusOr<std::shared_ptr<LibraryModule>> OpenLibrary(const CheckedLibrary& checked) {
  const LibraryFile& file = checked.file;
  const Content content = {file.size(), file.modified_ns(), checked.checksum};
  OpenLibraries& open = GlobalOpenLibraries();
  ModuleInUse in_use;
  {
    const std::lock_guard<std::mutex> lock(open.mutex);
    in_use = open.Find(file.identity());
  }
  // The loader is not called for a file that it has already: each call would add a name to the
  // file.
  if (in_use.module != nullptr) return SameFile(std::move(in_use), file, content);
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<DynamicLibrary> loaded, DynamicLibrary::Load(file));
  const std::shared_ptr<DynamicLibrary> library(
      loaded.release(),
      [identity = file.identity()](DynamicLibrary* closed) { Close(identity, closed); });
  bool is_model = false;
  for (const char* const name : kModelSymbols) is_model |= library->FindSymbol(name) != nullptr;
  if (!is_model) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": is a shared object, but not a compiled model: it has no ",
                     "symbol ", kModuleBlobSymbol));
  }
  std::shared_ptr<LibraryModule> module = LibraryModule::Create(
      {.find = [symbols =
                    library.get()](const std::string& name) { return symbols->FindSymbol(name); },
       .owner = library});
  {
    const std::lock_guard<std::mutex> lock(open.mutex);
    in_use = open.Find(file.identity());
    if (in_use.module == nullptr) {
      open.libraries[file.identity()] = {.module = module, .content = content};
      module->FillPointers();
      return module;
    }
  }
  // Another thread, or a constructor of the library, has loaded the file in the meantime.
  return SameFile(std::move(in_use), file, content);
}

size_t SymbolBytes(const void* address) {
  Dl_info info = {};
  void* found = nullptr;
  if (dladdr1(address, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr ||
      info.dli_saddr != address) {
    return std::numeric_limits<size_t>::max();
  }
  const size_t bytes = static_cast<const ElfW(Sym)*>(found)->st_size;
  return bytes == 0 ? std::numeric_limits<size_t>::max() : bytes;
}

}  // namespace kiln::runtime
