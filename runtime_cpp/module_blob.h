// SPDX-License-Identifier: Apache-2.0
//
// The tree of modules that a compiled library carries in its symbol __tvm_dev_mblob.
//
// Layout, all little-endian: u64 number of bytes that follow; u64 number of entries; for each entry
// a string key and a payload that depends on the key:
//   "_lib"           No payload: stands for the library itself.
//   "_import_tree"   u64s row_ptr, u64s child. Module i imports
//                    child[row_ptr[i]] … child[row_ptr[i + 1] - 1].
//   any other        Read by the loader of that type key.
// Modules are numbered in the order of their entries, without the tree. Module 0 is the root.
// Without a tree, the library is the root and imports all other modules. The bytes are not trusted.
#ifndef KILN_RUNTIME_CPP_MODULE_BLOB_H_
#define KILN_RUNTIME_CPP_MODULE_BLOB_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

// Symbol of the blob.
inline constexpr char kModuleBlobSymbol[] = "__tvm_dev_mblob";

// Maximum number of modules in a blob.
inline constexpr size_t kMaxBlobModules = 4096;

// Makes the module of one entry.
using BlobEntryLoader =
    std::function<absl::StatusOr<ModulePtr>(const std::string& type_key, ByteReader& payload)>;

// Completes the modules of all entries before they import each other.
using BlobPreparer = std::function<absl::Status(const std::vector<ModulePtr>& modules)>;

// Returns the root of the tree in `bytes`, which begin with the length. `library` stands for
// "_lib". Its imports are set unless it has some from an earlier load. Returns DataLoss if the
// bytes are damaged. Several threads may load the same `library` at the same time.
absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library,
                                         const BlobEntryLoader& load_entry,
                                         const BlobPreparer& prepare = nullptr);

// LoadModuleBlob with the loaders that are built in and those of RegisterModuleLoader.
absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODULE_BLOB_H_
