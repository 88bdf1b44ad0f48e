// SPDX-License-Identifier: Apache-2.0
// Model Library Format: compiled models in one tar archive that a project with any build system can
// take. docs/mlf_format.md describes the layout.
//
//   mlf::ModelLibrary library;
//   library.modules.push_back({.metadata = metadata, .sources = {c}, .header = header, …});
//   KILN_ASSIGN_OR_RETURN(std::string bytes, mlf::WriteArchive(library));
//   KILN_ASSIGN_OR_RETURN(mlf::ModelLibrary same, mlf::ReadArchive(bytes, "my_mod.tar"));
#ifndef KILN_MLF_MODEL_LIBRARY_H_
#define KILN_MLF_MODEL_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/artifacts.h"
#include "metadata/metadata.pb.h"

namespace kiln::mlf {

// Version of the layout and of metadata.json.
inline constexpr int kVersion = 7;

// The last second of the year 9999.
inline constexpr int64_t kMaxExportTime = 253'402'300'799;

// One compiled model of the C runtime. A module of another compiler's archive has no central
// metadata: `metadata` then is what the archive's description says, which is less, and the header
// may be missing.
struct Module {
  proto::Metadata metadata;          // its name, executor, sizes
  std::string foreign_description;   // of another compiler: its part of metadata.json
  std::vector<std::string> sources;  // generated C; the model's own code first
  std::vector<std::string> objects;  // of the LLVM code generator; likewise
  std::string header;
  std::string params;      // a parameter file; what is linked into the code is not in it
  std::string relay;       // the model as it was imported
  std::string graph_json;  // with the graph executor

  const std::string& name() const { return metadata.module_name(); }
  bool is_foreign() const { return !foreign_description.empty(); }
};

struct ModelLibrary {
  std::vector<Module> modules;  // in the order of their names
  Artifacts runtime;            // the C runtime, by path below its folder; empty if it is left out
  Artifacts
      headers;  // that the sources include as "kiln/…", by name; other programs' tools lack them
  int64_t export_time = 0;  // seconds since 1970, from 0 to kMaxExportTime
};

// The parameter file of a model whose parameters are all linked into its code.
std::string NoParams();

// The archive. The same library gives the same bytes. InvalidArgument for no module, two modules of
// one name, a module of another runtime than "crt" or without code, a time out of range.
absl::StatusOr<std::string> WriteArchive(const ModelLibrary& library);

// Reads what WriteArchive has written, or TVM 0.9 in its place. The bytes are not trusted; errors
// begin with `name`, which says in them what the bytes are. FailedPrecondition, naming both
// versions, for an archive or metadata of another version; InvalidArgument for an archive that is
// damaged or of other origin.
absl::StatusOr<ModelLibrary> ReadArchive(absl::string_view bytes, absl::string_view name);

// All modules of several libraries in one. InvalidArgument if a name comes twice, if objects are
// for different targets, or if libraries bring different C runtimes or
// headers.
absl::StatusOr<ModelLibrary> Merge(const std::vector<ModelLibrary>& libraries);

}  // namespace kiln::mlf

#endif  // KILN_MLF_MODEL_LIBRARY_H_
