// SPDX-License-Identifier: Apache-2.0
// Model Library Format: compiled models in one tar archive, for projects with any build system.
// docs/mlf_format.md describes the layout.
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

// One compiled model for the C runtime. A module from another compiler's archive has no central
// metadata. Its `metadata` then has only the facts of the archive's description, and its header may
// be missing.
struct Module {
  proto::Metadata metadata;          // name, executor, sizes and so on
  std::string foreign_description;   // its entry in metadata.json if another compiler wrote it
  std::vector<std::string> sources;  // generated C; the model's own code first
  std::vector<std::string> objects;  // made by LLVM; the model's own code first
  std::string header;
  std::string params;      // a parameter file, without the parameters linked into the code
  std::string relay;       // the imported model
  std::string graph_json;  // only for the graph executor

  const std::string& name() const { return metadata.module_name(); }
  bool is_foreign() const { return !foreign_description.empty(); }
};

struct ModelLibrary {
  std::vector<Module> modules;  // ordered by name
  Artifacts runtime;            // the C runtime, keyed by path in its folder; may be empty
  Artifacts headers;            // included as "kiln/…", keyed by name; none if foreign
  int64_t export_time = 0;      // seconds since 1970, from 0 to kMaxExportTime
};

// Returns the parameter file of a model whose parameters are all linked into its code.
std::string NoParams();

// Returns the bytes of the archive, which depend only on the library. InvalidArgument if there are
// no modules, if two modules have the same name, if a module has no code or is not for the runtime
// "crt", or if the time is out of range.
absl::StatusOr<std::string> WriteArchive(const ModelLibrary& library);

// Reads an archive that WriteArchive or TVM 0.9 wrote. The bytes are not trusted. Errors begin with
// `name`. FailedPrecondition, naming both versions, if the archive or its metadata has another
// version. InvalidArgument if the archive is damaged or of another origin.
absl::StatusOr<ModelLibrary> ReadArchive(absl::string_view bytes, absl::string_view name);

// Returns a library with the modules of all given ones. InvalidArgument if a name occurs twice, if
// objects are for different targets, or if the C runtimes or headers differ.
absl::StatusOr<ModelLibrary> Merge(const std::vector<ModelLibrary>& libraries);

}  // namespace kiln::mlf

#endif  // KILN_MLF_MODEL_LIBRARY_H_
