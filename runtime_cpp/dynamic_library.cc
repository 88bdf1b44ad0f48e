// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/dynamic_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/elf_check.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

std::string DescriptorPath(int descriptor) { return absl::StrCat("/proc/self/fd/", descriptor); }

std::atomic<uint64_t> loads = 0;

// Returns a folder for the name of each load. It encodes an address in binary by additional "/" and
// "./". The address is different in each copy of this runtime in the process.
std::string FolderOfThisRuntime() {
  std::string name = "/fd/";
  const auto address = reinterpret_cast<uintptr_t>(&loads);
  for (int bit = 0; bit < 64; ++bit) name += (uint64_t{address} >> bit & 1) != 0 ? "./" : "/";
  return name;
}

// Returns a name of the open file that no other load of this process has had. The loader would take
// a library of the same name for the same file, and file descriptors are reused. After the folder
// of this runtime, further "/" and "./" encode a counter. The name contains the process ID instead
// of "self", because a debugger opens the file by this name in its own process.
std::string UniqueLoaderName(int descriptor) {
  std::error_code error;
  const std::string process = std::filesystem::read_symlink("/proc/self", error).string();
  std::string name = absl::StrCat("/proc/", error ? "self" : process, FolderOfThisRuntime());
  for (uint64_t load = ++loads; load != 0; load >>= 1) name += (load & 1) != 0 ? "./" : "/";
  return absl::StrCat(name, descriptor);
}

// A library whose name in the loader's list has been replaced.
struct ShownLibrary {
  char* original_name;  // Name that the loader owns.
  int users;            // Number of DynamicLibrary objects.
};

// Several objects can share a library of the loader. The last one restores the original name.
struct ShownNames {
  std::mutex mutex;  // Guards the members below, and link_map::l_name.
  std::map<link_map*, ShownLibrary> libraries;
  // Names that have been in the list. They are never freed: another thread may read one from the
  // list while its library is destroyed.
  std::set<std::string> names;
};

ShownNames& GlobalShownNames() {
  static ShownNames* const names = new ShownNames;
  return *names;
}

absl::Status LoadError(int error, const LibraryFile& file, absl::string_view what) {
  return absl::ErrnoToStatus(
      error, absl::StrCat(file.path(), ": cannot ", what, " the shared object to load it"));
}

// Repeats the loader's first steps to find the reason of its failure. The loader's texts are meant
// for people, are in the language of the process, and often do not mention errno.
absl::Status CheckLoaderCanMap(const LibraryFile& file) {
  const int descriptor =
      open(DescriptorPath(file.descriptor()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.path(), ": cannot load a shared object where /proc is not mounted"));
  }
  if (descriptor < 0) return LoadError(errno, file, "open");
  close(descriptor);
  KILN_ASSIGN_OR_RETURN(const uint64_t bytes, ElfMemoryBytes(file));
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) return LoadError(errno, file, "map");
  munmap(memory, bytes);
  return absl::OkStatus();
}

absl::Status WhyNotLoaded(const LibraryFile& file, absl::string_view text) {
  KILN_RETURN_IF_ERROR(CheckLoaderCanMap(file));
  // If the loader has no memory for a longer text, its text is "out of memory".
  std::vector<std::string> texts = {"out of memory"};
  for (const int error : {ENOMEM, EMFILE, ENFILE}) {
    texts.push_back(std::generic_category().message(error));
  }
  for (const std::string& lacking : texts) {
    if (absl::StrContains(text, lacking)) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot load a shared object: ", text));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot load a shared object: ", text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DynamicLibrary>> DynamicLibrary::Load(const LibraryFile& file) {
  std::unique_ptr<DynamicLibrary> library(new DynamicLibrary);
  const std::string loader_name = UniqueLoaderName(file.descriptor());
  // RTLD_NOW, because a missing function would end the process when it is first called.
  library->handle_ = dlopen(loader_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) {
    return WhyNotLoaded(file, absl::StrReplaceAll(dlerror(), {{loader_name, file.path()}}));
  }
  library->ShowName(file);
  KILN_RETURN_IF_ERROR(file.CheckUnchanged());
  return library;
}

// Debuggers, sanitizers and dladdr read the name of a library from the loader's list, to open its
// file for symbols. This function puts the current path of the file there. The destructor restores
// the loader's own string before the loader frees it.
void DynamicLibrary::ShowName(const LibraryFile& file) {
  std::error_code error;
  std::string path =
      std::filesystem::read_symlink(DescriptorPath(file.descriptor()), error).string();
  link_map* map = nullptr;
  if (error || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return;
  ShownNames& names = GlobalShownNames();
  const std::lock_guard<std::mutex> lock(names.mutex);
  if (const auto found = names.libraries.find(map); found != names.libraries.end()) {
    ++found->second.users;
  } else {
    // A library that was loaded without this runtime keeps its name.
    if (!absl::StrContains(map->l_name, FolderOfThisRuntime())) return;
    const std::string& name = *names.names.insert(std::move(path)).first;
    names.libraries[map] = {.original_name = map->l_name, .users = 1};
    map->l_name = const_cast<char*>(name.c_str());
  }
  shown_ = map;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ == nullptr) return;
  if (shown_ != nullptr) {
    ShownNames& names = GlobalShownNames();
    const std::lock_guard<std::mutex> lock(names.mutex);
    const auto found = names.libraries.find(shown_);
    if (--found->second.users == 0) {
      shown_->l_name = found->second.original_name;
      names.libraries.erase(found);
    }
  }
  dlclose(handle_);
}

void* DynamicLibrary::FindSymbol(const std::string& name) const {
  void* const symbol = dlsym(handle_, name.c_str());
  Dl_info info = {};
  void* owner = nullptr;
  link_map* own = nullptr;
  if (symbol == nullptr || dladdr1(symbol, &info, &owner, RTLD_DL_LINKMAP) == 0 ||
      dlinfo(handle_, RTLD_DI_LINKMAP, &own) != 0 || owner != own) {
    return nullptr;
  }
  return symbol;
}

}  // namespace kiln::runtime
