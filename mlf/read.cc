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
#include "runtime_cpp/graph_table.h"
#include "runtime_cpp/params.h"

namespace kiln::mlf {
namespace {

// Takes the files of an archive one by one.
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

  // Those below `folder`, by their paths there.
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

absl::StatusOr<Module> TakeModule(const std::string& name, const std::string& executor,
                                  FileTaker& files) {
  Module module;
  const std::string path = CentralMetadataPath(name);
  KILN_ASSIGN_OR_RETURN(const std::string metadata, files.Take(path));
  KILN_ASSIGN_OR_RETURN(module.metadata, ParseMetadataJson(metadata, path));
  if (module.name() != name || module.metadata.executor() != executor ||
      module.metadata.runtime() != "crt") {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is of the module '", module.name(), "' for the ",
                     module.metadata.executor(), " executor of the runtime ",
                     module.metadata.runtime(), ", wanted '", name, "', ", executor, " and crt"));
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
  KILN_ASSIGN_OR_RETURN(module.header, files.Take(HeaderPath(name)));
  KILN_ASSIGN_OR_RETURN(module.params, files.Take(ParamsPath(name)));
  KILN_ASSIGN_OR_RETURN(module.relay, files.Take(RelayPath(name)));
  if (executor == "graph") {
    KILN_ASSIGN_OR_RETURN(module.graph_json, files.Take(GraphPath(name)));
  }
  KILN_RETURN_IF_ERROR(CheckFormats(module));
  return module;
}

absl::StatusOr<ModelLibrary> Read(Artifacts unpacked) {
  KILN_RETURN_IF_ERROR(CheckChecksums(unpacked));
  unpacked.erase(kChecksumsPath);
  FileTaker files(std::move(unpacked));
  const std::optional<std::string> text = files.TakeIfThere(kMetadataPath);
  if (!text.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tar archive, but not of the Model Library Format: it has no file ./", kMetadataPath));
  }
  KILN_ASSIGN_OR_RETURN(const Description description, ParseDescription(*text));
  ModelLibrary library;
  library.export_time = description.export_time;
  for (const auto& [name, executor] : description.executors) {
    KILN_ASSIGN_OR_RETURN(Module module, TakeModule(name, executor, files));
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
  // The runtime's readers of parameters speak of lost data.
  const absl::StatusCode code = absl::IsFailedPrecondition(library.status())
                                    ? absl::StatusCode::kFailedPrecondition
                                    : absl::StatusCode::kInvalidArgument;
  return absl::Status(code, absl::StrCat(name, ": ", library.status().message()));
}

}  // namespace kiln::mlf
