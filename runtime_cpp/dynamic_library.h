// SPDX-License-Identifier: Apache-2.0
//
// A library file in the system's dynamic loader.
//
// The loader knows a loaded library again by the name that it was loaded by, and by the device and
// inode of its file. A path can name another file at each load, so libraries are loaded by file
// descriptor and under a name that no other load has: only the inode counts, which no other file can
// get as long as this one is mapped.
#ifndef KILN_RUNTIME_CPP_DYNAMIC_LIBRARY_H_
#define KILN_RUNTIME_CPP_DYNAMIC_LIBRARY_H_

#include <link.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime_cpp/library_file.h"

namespace kiln::runtime {

class DynamicLibrary {
 public:
  // Maps the file of `file`, which has been checked to be whole, and runs its constructors. A file
  // that is loaded already, by whatever name, is shared. InvalidArgument with the loader's text if
  // it refuses the file, ResourceExhausted if memory or file descriptors are lacking,
  // PermissionDenied if the system does not let the file be executed.
  static absl::StatusOr<std::unique_ptr<DynamicLibrary>> Load(const LibraryFile& file);

  // Unmaps the library unless others have it loaded.
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // The address of a symbol of the library itself, not of one that it depends on; NULL if there is
  // none.
  void* FindSymbol(const std::string& name) const;

 private:
  DynamicLibrary() = default;

  void ShowName(const LibraryFile& file);

  void* handle_ = nullptr;
  // The loader's description of the library, if its list shows the file's path for this object.
  link_map* shown_ = nullptr;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DYNAMIC_LIBRARY_H_
