// SPDX-License-Identifier: Apache-2.0
//
// A library file in the system's dynamic loader.
//
// The loader identifies a loaded library by the name that it was loaded by, and by the device and
// inode of its file. A path may refer to a different file for each load. Therefore libraries are
// loaded by file descriptor and under a unique name. Then only the inode counts, which no other
// file can get as long as this one is mapped.
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
  // Maps a file whose completeness has been checked, and runs its constructors. If the file is
  // loaded already under any name, it is shared. Returns InvalidArgument with the loader's text if
  // the loader refuses the file. Returns ResourceExhausted if there is not enough memory or too few
  // file descriptors, and PermissionDenied if the system does not allow execution of the file.
  static absl::StatusOr<std::unique_ptr<DynamicLibrary>> Load(const LibraryFile& file);

  // Unmaps the library unless it has other users.
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // Returns the address of a symbol of the library itself, not of its dependencies; null if there
  // is none.
  void* FindSymbol(const std::string& name) const;

 private:
  DynamicLibrary() = default;

  void ShowName(const LibraryFile& file);

  void* handle_ = nullptr;
  // The loader's entry for the library, if this object has replaced its name by the file's path.
  link_map* shown_ = nullptr;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DYNAMIC_LIBRARY_H_
