// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/generated_headers.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

void AddIncluded(absl::string_view source, Artifacts& headers) {
  for (absl::string_view line : absl::StrSplit(source, '\n')) {
    if (!absl::ConsumePrefix(&line, "#include \"")) continue;
    const auto found = RuntimeHeaders().find(std::string(line.substr(0, line.find('"'))));
    if (found == RuntimeHeaders().end() || !headers.insert(*found).second) continue;
    AddIncluded(found->second, headers);
  }
}

}  // namespace

Artifacts HeadersOf(const Artifacts& artifacts) {
  Artifacts headers;
  for (const auto& [name, text] : artifacts) {
    if (absl::EndsWith(name, ".c")) AddIncluded(text, headers);
  }
  return headers;
}

}  // namespace kiln::tools
