// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "metadata/json.h"
#include "mlf/checksums.h"
#include "mlf/description.h"
#include "mlf/layout.h"
#include "mlf/model_library.h"
#include "mlf/tar.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/graph_table.h"
#include "runtime_cpp/params.h"

namespace kiln::mlf {
namespace {

// Removes files from an archive one by one. The files that remain at the end are unexpected.
class FileTaker {
 public:
  explicit FileTaker(Artifacts files) : files_(std::move(files)) {}

  std::optional<std::string> TakeIfThere(const std::string& path) {
    const auto node = files_.extract(path);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }

  absl::StatusOr<std::string> Take(const std::string& path) {
    std::optional<std::string> bytes = TakeIfThere(path);
    if (bytes.has_value()) return *std::move(bytes);
    return absl::InvalidArgumentError(absl::StrCat("the archive has no file ", path));
  }

  bool Has(const std::string& path) const { return files_.contains(path); }
  bool HasFolder(const std::string& folder) const {
    const auto first = files_.lower_bound(folder);
    return first != files_.end() && absl::StartsWith(first->first, folder);
  }

  // Removes the files below `folder` and returns them, keyed by path relative to it.
  Artifacts TakeFolder(const std::string& folder) {
    Artifacts taken;
    for (auto it = files_.lower_bound(folder); it != files_.end();) {
      if (!absl::StartsWith(it->first, folder)) break;
      taken[it->first.substr(folder.size())] = std::move(it->second);
      it = files_.erase(it);
    }
    return taken;
  }

  absl::Status CheckAllTaken() const {
    if (files_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the archive has the file ", files_.begin()->first, ", which is no part of a ",
                     "module of ", kMetadataPath));
  }

 private:
  Artifacts files_;
};

absl::Status CheckFormats(const Module& module) {
  KILN_RETURN_IF_ERROR(Annotate(runtime::LoadParams(module.params).status(),
                                absl::StrCat(ParamsPath(module.name()), ": ")));
  if (module.metadata.executor() != "graph") return absl::OkStatus();
  return Annotate(runtime::ParseGraphTable(module.graph_json).status(),
                  absl::StrCat(GraphPath(module.name()), ": "));
}

absl::Status CheckCentralMetadata(const proto::Metadata& metadata, const std::string& name,
                                  const std::string& executor) {
  if (metadata.module_name() == name && metadata.executor() == executor &&
      metadata.runtime() == "crt") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(CentralMetadataPath(name), ": is of the module '", metadata.module_name(),
                   "' for the ", metadata.executor(), " executor of the runtime ",
                   metadata.runtime(), ", wanted '", name, "', ", executor, " and crt"));
}

void AddTensor(const std::string& name, const runtime::GraphEntry& entry,
               proto::Function& function) {
  proto::Parameter& parameter = *function.add_parameters();
  parameter.set_relay_name_hint(name);
  parameter.set_tir_name_hint(name);
  for (const int64_t extent : entry.shape) parameter.add_shape(extent);
  parameter.set_dtype(runtime::DataTypeName(entry.dtype));
  parameter.set_size_bytes(entry.size_bytes);
}

// Adds inputs and outputs of a model that only its graph describes.
absl::Status AddGraphTensors(Module& module) {
  KILN_ASSIGN_OR_RETURN(const runtime::GraphTable table,
                        runtime::ParseGraphTable(module.graph_json));
  proto::Function& main = *module.metadata.mutable_functions(0);
  for (const size_t argument : table.arguments) {
    const runtime::GraphNode& node = table.nodes[argument];
    AddTensor(node.name, table.entries[node.first_entry], main);
  }
  for (size_t i = 0; i < table.heads.size(); ++i) {
    AddTensor(absl::StrCat("output", i), table.entries[table.heads[i]], main);
  }
  main.set_num_inputs(static_cast<int32_t>(table.arguments.size()));
  main.set_num_outputs(static_cast<int32_t>(table.heads.size()));
  return absl::OkStatus();
}

absl::StatusOr<Module> TakeModule(const std::string& name, const ModuleDescription& description,
                                  bool is_foreign, FileTaker& files) {
  Module module;
  const std::string& executor = description.executor;
  if (is_foreign) {
    module.foreign_description = description.json;
    module.header = files.TakeIfThere(HeaderPath(name)).value_or("");
    KILN_ASSIGN_OR_RETURN(module.metadata,
                          MetadataOfEntry(name, description, !module.header.empty()));
  } else {
    const std::string path = CentralMetadataPath(name);
    KILN_ASSIGN_OR_RETURN(const std::string metadata, files.Take(path));
    KILN_ASSIGN_OR_RETURN(module.metadata, ParseMetadataJson(metadata, path));
    KILN_RETURN_IF_ERROR(CheckCentralMetadata(module.metadata, name, executor));
    KILN_ASSIGN_OR_RETURN(module.header, files.Take(HeaderPath(name)));
  }
  while (auto source = files.TakeIfThere(SourcePath(name, module.sources.size()))) {
    module.sources.push_back(*std::move(source));
  }
  while (auto object = files.TakeIfThere(ObjectPath(name, module.objects.size()))) {
    module.objects.push_back(*std::move(object));
  }
  if (module.sources.empty() && module.objects.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the archive has neither ", SourcePath(name, 0),
                                                   " nor ", ObjectPath(name, 0)));
  }
  KILN_ASSIGN_OR_RETURN(module.params, files.Take(ParamsPath(name)));
  KILN_ASSIGN_OR_RETURN(module.relay, files.Take(RelayPath(name)));
  if (executor == "graph") {
    KILN_ASSIGN_OR_RETURN(module.graph_json, files.Take(GraphPath(name)));
  }
  KILN_RETURN_IF_ERROR(CheckFormats(module));
  if (is_foreign && executor == "graph") KILN_RETURN_IF_ERROR(AddGraphTensors(module));
  return module;
}

absl::StatusOr<ModelLibrary> Read(Artifacts unpacked) {
  KILN_RETURN_IF_ERROR(CheckChecksums(unpacked));
  const bool has_checksums = unpacked.erase(kChecksumsPath) > 0;
  FileTaker files(std::move(unpacked));
  const std::optional<std::string> text = files.TakeIfThere(kMetadataPath);
  if (!text.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tar archive, but not of the Model Library Format: it has no file ./", kMetadataPath));
  }
  KILN_ASSIGN_OR_RETURN(const Description description, ParseDescription(*text));
  ModelLibrary library;
  library.export_time = description.export_time;
  // Archives of other compilers have no central metadata. A complete archive written by Kiln, which
  // has checksums, may contain modules of other compilers.
  const bool may_be_foreign = has_checksums || !files.HasFolder(kCentralMetadataFolder);
  for (const auto& [name, entry] : description.modules) {
    const bool is_foreign = may_be_foreign && !files.Has(CentralMetadataPath(name));
    KILN_ASSIGN_OR_RETURN(Module module, TakeModule(name, entry, is_foreign, files));
    library.modules.push_back(std::move(module));
  }
  library.runtime = files.TakeFolder(kRuntimeFolder);
  library.headers = files.TakeFolder(kHeadersFolder);
  KILN_RETURN_IF_ERROR(files.CheckAllTaken());
  return library;
}

}  // namespace

absl::StatusOr<ModelLibrary> ReadArchive(absl::string_view bytes, absl::string_view name) {
  KILN_ASSIGN_OR_RETURN(Artifacts files, UnpackTar(bytes, name));
  absl::StatusOr<ModelLibrary> library = Read(std::move(files));
  if (library.ok()) return library;
  // The runtime's parsers of parameters and graphs use other error codes.
  const absl::StatusCode code = absl::IsFailedPrecondition(library.status())
                                    ? absl::StatusCode::kFailedPrecondition
                                    : absl::StatusCode::kInvalidArgument;
  return absl::Status(code, absl::StrCat(name, ": ", library.status().message()));
}

}  // namespace kiln::mlf
