// SPDX-License-Identifier: Apache-2.0
//
// The tree of modules that a compiled library carries in its symbol __tvm_dev_mblob.
//
// Layout, all little-endian: u64 bytes that follow; u64 number of entries; per entry a string key
// and, depending on it, a payload:
//   "_lib"           none: stands for the library itself
//   "_import_tree"   u64s row_ptr, u64s child: module i imports
//                    child[row_ptr[i]] … child[row_ptr[i + 1] - 1]
//   any other        what the loader of that type key reads
// Modules count in the order of their entries, without the tree; module 0 is the root. Without a
// tree the library is the root and imports all others. The bytes are not trusted.
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

// Most modules a blob may hold.
inline constexpr size_t kMaxBlobModules = 4096;

// Makes the module of one entry.
using BlobEntryLoader =
    std::function<absl::StatusOr<ModulePtr>(const std::string& type_key, ByteReader& payload)>;

// Completes the modules of all entries before they import each other.
using BlobPreparer = std::function<absl::Status(const std::vector<ModulePtr>& modules)>;

// The root of the tree in `bytes`, which begin with the length. `library` takes the place of
// "_lib"; its imports are set unless it has some from an earlier load. DataLoss if the bytes are
// damaged. Several threads may load the same `library` at the same time.
absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library,
                                         const BlobEntryLoader& load_entry,
                                         const BlobPreparer& prepare = nullptr);

// LoadModuleBlob with the built-in kinds of modules and those of RegisterModuleLoader.
absl::StatusOr<ModulePtr> LoadModuleBlob(absl::string_view bytes, const ModulePtr& library);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_MODULE_BLOB_H_
