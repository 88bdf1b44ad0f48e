// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/stale_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/external/external_codegen.h"
#include "tools/kiln/elf.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

constexpr size_t kCommentBytes = 200;  // of the first line of a source

bool IsOwnSource(absl::string_view text) {
  const absl::string_view begin = text.substr(0, kCommentBytes);
  return absl::StrContains(begin, "enerated by Kiln") ||
         absl::StrContains(begin, "xternal code generator ");
}

// True if an object defines functions of the module. An object of the user may have the module's
// name and only call its functions.
bool DefinesModule(absl::string_view bytes, const std::string& module_name) {
  const absl::StatusOr<ElfObject> object = ParseElfObject(bytes);
  if (!object.ok()) return false;
  const std::string prefix = absl::StrCat("tvmgen_", module_name, "_");
  return std::any_of(object->symbols.begin(), object->symbols.end(), [&](const ElfSymbol& symbol) {
    return symbol.section != 0 && absl::StartsWith(symbol.name, prefix);
  });
}

bool IsOwn(absl::string_view suffix, absl::string_view bytes, const std::string& module_name) {
  if (absl::EndsWith(suffix, ".c")) return IsOwnSource(bytes);
  return DefinesModule(bytes, module_name);
}

std::vector<std::string> StaleFiles(const std::string& folder, const std::string& module_name,
                                    const Artifacts& artifacts) {
  std::vector<std::string> suffixes = {".o", ".c", "_model.c", "_system_lib.c", "_devices.c"};
  for (const ExternalCodegen* codegen : AllExternalCodegens()) {
    suffixes.push_back(absl::StrCat("_", codegen->name, ".c"));
  }
  std::vector<std::string> stale;
  for (const std::string& suffix : suffixes) {
    const std::string name = module_name + suffix;
    if (artifacts.contains(name)) continue;
    const std::string path = (std::filesystem::path(folder) / name).string();
    const absl::StatusOr<std::string> bytes = ReadFile(path, kMaxModelFileBytes);
    if (bytes.ok() && IsOwn(suffix, *bytes, module_name)) stale.push_back(path);
  }
  return stale;
}

}  // namespace

void NoteStaleFiles(const std::string& folder, const std::string& module_name,
                    const Artifacts& artifacts) {
  for (const std::string& path : StaleFiles(folder, module_name, artifacts)) {
    std::fprintf(stderr,
                 "kiln: note: %s is left from an earlier compilation of %s with other options\n",
                 path.c_str(), module_name.c_str());
  }
}

}  // namespace kiln::tools
