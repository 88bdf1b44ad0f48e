// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/model_library.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "compiler/base/status.h"
#include "mlf/tar.h"
#include "tools/kiln/files.h"
#include "tools/kiln/generated_headers.h"
#include "tools/kiln/relay_file.h"
#include "tools/kiln/report.h"
#include "tools/kiln/runtime_files.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

constexpr char kTimeVariable[] = "SOURCE_DATE_EPOCH";
constexpr size_t kTarMagicOffset = 257;
constexpr absl::string_view kTarMagic = "ustar";

// Returns the time of an archive: the value of the environment variable, or 0 (1970) without one,
// so that two builds of a model give the same archive.
absl::StatusOr<int64_t> ExportTime() {
  const char* const text = std::getenv(kTimeVariable);
  if (text == nullptr || *text == '\0') return 0;
  int64_t seconds = 0;
  if (absl::SimpleAtoi(text, &seconds) && seconds >= 0 && seconds <= mlf::kMaxExportTime) {
    return seconds;
  }
  return absl::InvalidArgumentError(absl::StrCat(kTimeVariable, ": found '", text,
                                                 "', wanted seconds since 1970, from 0 to ",
                                                 mlf::kMaxExportTime));
}

// Replaces the include of the model's header, whose name in an archive has a prefix.
std::string WithArchivedHeader(const std::string& source, const std::string& module_name) {
  return absl::StrReplaceAll(source, {{absl::StrCat("#include \"", module_name, ".h\"\n"),
                                       absl::StrCat("#include \"tvmgen_", module_name, ".h\"\n")}});
}

// Adds every artifact to its list. The model's own code comes first.
absl::Status AddArtifacts(const Artifacts& artifacts, mlf::Module& module) {
  const std::string& name = module.name();
  for (const bool own : {true, false}) {
    for (const auto& [path, bytes] : artifacts) {
      if ((path == name + ".c" || path == name + ".o") != own) continue;
      if (absl::EndsWith(path, ".c")) {
        module.sources.push_back(WithArchivedHeader(bytes, name));
      } else if (absl::EndsWith(path, ".o")) {
        module.objects.push_back(bytes);
      } else if (path == name + ".h") {
        module.header = bytes;
      } else if (path == name + ".graph.json") {
        module.graph_json = bytes;
      } else if (path != name + ".metadata.json") {
        return absl::InternalError(absl::StrCat("an archive has no place for ", path));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckForModelLibrary(const CompileOptions& options) {
  if (options.runtime == Runtime::kCrt) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--mlf and --runtime cpp do not go together: an archive holds code for the C runtime, the "
      "C++ "
      "runtime loads a shared object; use --runtime crt, or -o instead of --mlf");
}

absl::StatusOr<mlf::ModelLibrary> ModelLibraryOf(const Graph& graph, const Compiled& compiled,
                                                 bool with_runtime) {
  mlf::ModelLibrary library;
  KILN_ASSIGN_OR_RETURN(library.export_time, ExportTime());
  if (with_runtime) library.runtime = StandaloneRuntime();
  mlf::Module& module = library.modules.emplace_back();
  module.metadata = compiled.compilation.metadata;
  module.params = mlf::NoParams();
  module.relay = RelayFile(graph);
  KILN_RETURN_IF_ERROR(AddArtifacts(compiled.artifacts, module));
  for (const auto& [path, text] : HeadersOf(compiled.artifacts)) {
    absl::string_view name = path;
    if (absl::ConsumePrefix(&name, "kiln/")) library.headers[std::string(name)] = text;
  }
  return library;
}

absl::StatusOr<mlf::ModelLibrary> ReadModelLibrary(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  return mlf::ReadArchive(bytes, path);
}

absl::Status WriteModelLibrary(absl::string_view option, const std::string& path,
                               const mlf::ModelLibrary& library) {
  KILN_RETURN_IF_ERROR(CheckIsNoFolder(option, path));
  KILN_ASSIGN_OR_RETURN(const std::string bytes, mlf::WriteArchive(library));
  return Apply({.files = {{path, bytes}}});
}

bool IsArchive(absl::string_view bytes) {
  return bytes.size() > kTarMagicOffset &&
         absl::StartsWith(bytes.substr(kTarMagicOffset), kTarMagic);
}

absl::StatusOr<std::string> ReportArchive(absl::string_view bytes, const std::string& path,
                                          int columns) {
  KILN_ASSIGN_OR_RETURN(const mlf::ModelLibrary library, mlf::ReadArchive(bytes, path));
  KILN_ASSIGN_OR_RETURN(const Artifacts files, mlf::UnpackTar(bytes, path));
  std::string text = absl::StrCat(
      "Model Library Format ", mlf::kVersion, " of ",
      absl::FormatTime("%Y-%m-%d %H:%M:%SZ", absl::FromUnixSeconds(library.export_time),
                       absl::UTCTimeZone()),
      library.runtime.empty() ? ", without the C runtime\n" : ", with the C runtime\n");
  Table modules({"module", "executor", "interface", "calls", "target", ">workspace", ">constants",
                 ">inputs and outputs"});
  for (const mlf::Module& module : library.modules) {
    const proto::Metadata& metadata = module.metadata;
    const proto::Function& main = metadata.functions(0);
    modules.Add({module.name(), metadata.executor(), metadata.interface_api(),
                 metadata.calling_convention(), metadata.target(),
                 absl::StrCat(main.workspace_size_bytes()),
                 absl::StrCat(main.constant_size_bytes()), absl::StrCat(main.io_size_bytes())});
  }
  absl::StrAppend(&text, "\nmodules, sizes in bytes:\n", modules.ToString(columns));
  Table table({">bytes", "file"});
  for (const auto& [name, content] : files) table.Add({absl::StrCat(content.size()), name});
  absl::StrAppend(&text, "\nfiles:\n", table.ToString(columns));
  for (const mlf::Module& module : library.modules) {
    absl::StrAppend(&text, "\n", Report(module.metadata, columns));
  }
  return text;
}

}  // namespace kiln::tools
