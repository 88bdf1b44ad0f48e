// SPDX-License-Identifier: Apache-2.0
//
// Shared objects on disk.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/module_blob.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

// A library of a compiler of this ABI has at least one of these.
constexpr const char* kModelSymbols[] = {kModuleBlobSymbol, "__tvm_module_ctx",
                                         "get_model_metadata", "get_c_metadata"};

#if defined(__x86_64__)
constexpr uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kThisMachine = EM_RISCV;
#else
constexpr uint16_t kThisMachine = EM_NONE;  // not known: the loader finds out
#endif
constexpr unsigned char kThisClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::string MachineName(uint16_t machine, unsigned char elf_class) {
  const char* const bits = elf_class == ELFCLASS64 ? "64" : "32";
  switch (machine) {
    case EM_X86_64:
      return elf_class == ELFCLASS64 ? "x86-64" : "x32";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return absl::StrCat("riscv", bits);
    default:
      return absl::StrCat("the ", bits, "-bit machine ", machine, " of the ELF format");
  }
}

// What the loader says of a library for another machine is that there is no such file. The fields
// that tell it lie at the same place in files of 32 and 64 bits.
absl::Status CheckMachine(const std::string& path, const ElfW(Ehdr) & header) {
  const unsigned char elf_class = header.e_ident[EI_CLASS];
  const bool swapped = header.e_ident[EI_DATA] == ELFDATA2MSB;
  const uint16_t machine = swapped ? __builtin_bswap16(header.e_machine) : header.e_machine;
  if (kThisMachine == EM_NONE || machine == EM_NONE) return absl::OkStatus();
  if (machine == kThisMachine && elf_class == kThisClass) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": is for ", MachineName(machine, elf_class),
                                                 ", this machine is ",
                                                 MachineName(kThisMachine, kThisClass)));
}

absl::Status CheckReachesTo(const std::string& path, uint64_t offset, uint64_t bytes,
                            uint64_t file_bytes) {
  uint64_t end = 0;
  if (!__builtin_add_overflow(offset, bytes, &end) && end <= file_bytes) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": is cut off after ", file_bytes, " bytes of at least ", end));
}

// Checks that all segments that the loader maps are in the file: to touch one that is not kills the
// process, and the loader itself does not look. The table of sections, which only other tools read,
// lies at the end of files of most linkers, so that without it the file is cut off.
absl::Status CheckIsWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot open the file"));
  const auto file_bytes = static_cast<uint64_t>(file.tellg());
  ElfW(Ehdr) header = {};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  const bool complete = file.gcount() == sizeof(header);
  const bool elf = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  if (elf) KILN_RETURN_IF_ERROR(CheckMachine(path, header));
  if (!complete || !elf || header.e_phentsize != sizeof(ElfW(Phdr))) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a shared object"));
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment = {};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof(segment)));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof(segment))) {
      return absl::DataLossError(absl::StrCat(path, ": is cut off in its program header"));
    }
    if (segment.p_type != PT_LOAD) continue;
    KILN_RETURN_IF_ERROR(CheckReachesTo(path, segment.p_offset, segment.p_filesz, file_bytes));
  }
  return CheckReachesTo(path, header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize,
                        file_bytes);
}

// Modules of open libraries by their handle, so that opening a file again gives the same module:
// the code can know only one.
struct OpenLibraries {
  std::mutex mutex;
  std::map<void*, std::weak_ptr<LibraryModule>> modules;
};

OpenLibraries& GlobalOpenLibraries() {
  static OpenLibraries* const libraries = new OpenLibraries;
  return *libraries;
}

// dlsym also finds symbols of libraries that the one asked for depends on; those are not the
// model's.
void* FindOwnSymbol(void* handle, const std::string& name) {
  void* const symbol = dlsym(handle, name.c_str());
  Dl_info info = {};
  const link_map* own = nullptr;
  if (symbol == nullptr || dladdr(symbol, &info) == 0 ||
      dlinfo(handle, RTLD_DI_LINKMAP, &own) != 0 || strcmp(info.dli_fname, own->l_name) != 0) {
    return nullptr;
  }
  return symbol;
}

void Close(void* handle) {
  OpenLibraries& libraries = GlobalOpenLibraries();
  const std::lock_guard<std::mutex> lock(libraries.mutex);
  const auto found = libraries.modules.find(handle);
  if (found != libraries.modules.end() && found->second.expired()) libraries.modules.erase(found);
  dlclose(handle);
}

}  // namespace

absl::StatusOr<std::shared_ptr<LibraryModule>> OpenLibrary(const std::string& path,
                                                           const LoadOptions& options) {
  // Without a slash dlopen would search the system's folders.
  const std::string file = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  if (options.check_checksum) KILN_RETURN_IF_ERROR(CheckLibraryChecksum(file));
  KILN_RETURN_IF_ERROR(CheckIsWhole(file));
  // Now, since a function that is missing ends the process when it is first called.
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("cannot load a shared object: ", dlerror()));
  }
  const std::shared_ptr<void> owner(handle, Close);
  bool is_model = false;
  for (const char* const name : kModelSymbols) is_model |= FindOwnSymbol(handle, name) != nullptr;
  if (!is_model) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a shared object, but not a compiled model: it has no symbol ",
                     kModuleBlobSymbol));
  }
  OpenLibraries& libraries = GlobalOpenLibraries();
  const std::lock_guard<std::mutex> lock(libraries.mutex);
  std::weak_ptr<LibraryModule>& known = libraries.modules[handle];
  if (std::shared_ptr<LibraryModule> module = known.lock()) return module;
  std::shared_ptr<LibraryModule> module = LibraryModule::Create(
      {.find = [handle](const std::string& name) { return FindOwnSymbol(handle, name); },
       .owner = owner});
  known = module;
  return module;
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
