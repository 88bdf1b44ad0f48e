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
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <utility>

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

// A name of the open file that no load of this process has had: the loader would take a library of
// the same name for the same file, and file descriptors are used again. Additional "/" and "./" in
// the path spell a number in binary: an address, which is another in each copy of this runtime in
// the process, and then a count. It has the number of the process, not "self": a debugger opens the
// file by this name in a process of its own.
std::string UniqueLoaderName(int descriptor) {
  static std::atomic<uint64_t> loads = 0;
  std::error_code error;
  const std::string process = std::filesystem::read_symlink("/proc/self", error).string();
  std::string name = absl::StrCat("/proc/", error ? "self" : process, "/fd/");
  const auto address = reinterpret_cast<uintptr_t>(&loads);
  for (int bit = 0; bit < 64; ++bit) name += (uint64_t{address} >> bit & 1) != 0 ? "./" : "/";
  for (uint64_t load = ++loads; load != 0; load >>= 1) name += (load & 1) != 0 ? "./" : "/";
  return absl::StrCat(name, descriptor);
}

// Names that the loader's list has had. They stay: another thread may be reading one from the list
// when its library goes.
struct ShownNames {
  std::mutex mutex;  // of the names and of link_map::l_name
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

// Does the loader's first steps once more to learn why they failed: its texts are for people, in
// the language of the process, and often leave errno out.
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
  for (const int error : {ENOMEM, EMFILE, ENFILE}) {
    if (absl::StrContains(text, std::generic_category().message(error))) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot load a shared object: ", text));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot load a shared object: ", text));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DynamicLibrary>> DynamicLibrary::Load(const LibraryFile& file) {
  std::unique_ptr<DynamicLibrary> library(new DynamicLibrary);
  const std::string loader_name = UniqueLoaderName(file.descriptor());
  // Now, since a function that is missing ends the process when it is first called.
  library->handle_ = dlopen(loader_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) {
    return WhyNotLoaded(file, absl::StrReplaceAll(dlerror(), {{loader_name, file.path()}}));
  }
  library->ShowName(file, loader_name);
  KILN_RETURN_IF_ERROR(file.CheckUnchanged());
  return library;
}

// Debuggers, sanitizers and dladdr read the name of a library from the loader's list, to open its
// file for symbols. They get the path that the file has at this time. The loader's own string takes
// its place again before the loader frees it.
void DynamicLibrary::ShowName(const LibraryFile& file, const std::string& loader_name) {
  std::error_code error;
  std::string path =
      std::filesystem::read_symlink(DescriptorPath(file.descriptor()), error).string();
  ShownNames& names = GlobalShownNames();
  const std::lock_guard<std::mutex> lock(names.mutex);
  link_map* map = nullptr;
  // A library that was loaded before keeps its name.
  if (error || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || loader_name != map->l_name) return;
  const std::string& name = *names.names.insert(std::move(path)).first;
  original_name_ = std::exchange(map->l_name, const_cast<char*>(name.c_str()));
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ == nullptr) return;
  if (original_name_ != nullptr) {
    const std::lock_guard<std::mutex> lock(GlobalShownNames().mutex);
    link_map* map = nullptr;
    if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0) map->l_name = original_name_;
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
