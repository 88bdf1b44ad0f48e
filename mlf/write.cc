// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "metadata/check.h"
#include "metadata/json.h"
#include "mlf/checksums.h"
#include "mlf/description.h"
#include "mlf/layout.h"
#include "mlf/model_library.h"
#include "mlf/tar.h"
#include "runtime_cpp/params.h"

namespace kiln::mlf {
namespace {

absl::Status CheckModule(const Module& module) {
  if (!module.is_foreign()) KILN_RETURN_IF_ERROR(CheckMetadata(module.metadata));
  const std::string& name = module.name();
  if (module.metadata.runtime() != "crt") {
    return absl::InvalidArgumentError(
        absl::StrCat("module '", name, "' is for the runtime '", module.metadata.runtime(),
                     "', an archive holds code for the C runtime (crt)"));
  }
  if (module.sources.empty() && module.objects.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("module '", name, "' has no code"));
  }
  return absl::OkStatus();
}

void AddModule(const Module& module, Artifacts& files) {
  const std::string& name = module.name();
  for (size_t i = 0; i < module.sources.size(); ++i) {
    files[SourcePath(name, i)] = module.sources[i];
  }
  for (size_t i = 0; i < module.objects.size(); ++i) {
    files[ObjectPath(name, i)] = module.objects[i];
  }
  if (!module.is_foreign() || !module.header.empty()) files[HeaderPath(name)] = module.header;
  files[ParamsPath(name)] = module.params;
  files[RelayPath(name)] = module.relay;
  if (!module.is_foreign()) files[CentralMetadataPath(name)] = MetadataJson(module.metadata);
  if (module.metadata.executor() == "graph") files[GraphPath(name)] = module.graph_json;
}

// Checks that one program can link the objects of both modules. Objects for different machines, or
// for one machine with different floating-point registers, cannot be linked.
absl::Status CheckLinksWith(const Module* other, const Module& module) {
  // Different compilers use different names for targets, so these cannot be compared.
  if (other == nullptr || module.objects.empty() || other->is_foreign() != module.is_foreign() ||
      other->metadata.target() == module.metadata.target()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the module '", other->name(), "' is for the target ", other->metadata.target(),
      ", the module '", module.name(), "' for ", module.metadata.target(),
      ": no program links the objects of both; compile one of them again for the target of the "
      "other, or with --codegen c"));
}

}  // namespace

std::string NoParams() { return runtime::SaveParams({}).value_or(""); }

absl::StatusOr<std::string> WriteArchive(const ModelLibrary& library) {
  if (library.modules.empty()) return absl::InvalidArgumentError("an archive without modules");
  if (library.export_time < 0 || library.export_time > kMaxExportTime) {
    return absl::InvalidArgumentError(absl::StrCat("export time: found ", library.export_time,
                                                   ", wanted seconds from 0 to ", kMaxExportTime));
  }
  Artifacts files;
  std::set<std::string> names;
  for (const Module& module : library.modules) {
    KILN_RETURN_IF_ERROR(CheckModule(module));
    if (!names.insert(module.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two modules have the name '", module.name(), "'"));
    }
    AddModule(module, files);
  }
  for (const auto& [path, bytes] : library.runtime) files[kRuntimeFolder + path] = bytes;
  for (const auto& [path, bytes] : library.headers) files[kHeadersFolder + path] = bytes;
  KILN_ASSIGN_OR_RETURN(files[kMetadataPath], DescriptionJson(library));
  files[kChecksumsPath] = ChecksumLines(files);
  return PackTar(files, library.export_time);
}

absl::StatusOr<ModelLibrary> Merge(const std::vector<ModelLibrary>& libraries) {
  std::map<std::string, const Module*> modules;
  ModelLibrary merged;
  const Module* with_objects = nullptr;
  for (const ModelLibrary& library : libraries) {
    for (const Module& module : library.modules) {
      if (!modules.emplace(module.name(), &module).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("two modules have the name '", module.name(),
                         "'; compile one of them again with another --module-name"));
      }
    }
    for (const Module& module : library.modules) {
      KILN_RETURN_IF_ERROR(CheckLinksWith(with_objects, module));
      if (!module.objects.empty()) with_objects = &module;
    }
    if (!library.runtime.empty() && !merged.runtime.empty() && library.runtime != merged.runtime) {
      return absl::InvalidArgumentError(
          "the archives bring different C runtimes; make them with one version of Kiln");
    }
    if (merged.runtime.empty()) merged.runtime = library.runtime;
    for (const auto& [path, bytes] : library.headers) {
      if (merged.headers.emplace(path, bytes).first->second == bytes) continue;
      return absl::InvalidArgumentError(absl::StrCat("the archives bring different headers ",
                                                     kHeadersFolder, path,
                                                     "; make them with one version of Kiln"));
    }
    merged.export_time = std::max(merged.export_time, library.export_time);
  }
  for (const auto& [name, module] : modules) merged.modules.push_back(*module);
  return merged;
}

}  // namespace kiln::mlf
