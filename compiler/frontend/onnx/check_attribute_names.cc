// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/nearest.h"
#include "compiler/frontend/onnx/attribute_names.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {
namespace {

// Attribute names from version `since` of the operator set on.
struct Version {
  int since;
  std::vector<std::string> names;
};
using Versions = std::vector<Version>;  // oldest first

Versions ParseVersions(absl::string_view text) {
  Versions versions;
  for (absl::string_view part : absl::StrSplit(text, "; ")) {
    std::vector<std::string> words = absl::StrSplit(part, ' ');
    Version version = {0, {words.begin() + 1, words.end()}};
    (void)absl::SimpleAtoi(words[0], &version.since);
    versions.push_back(std::move(version));
  }
  return versions;
}

const Versions* FindVersions(absl::string_view domain, absl::string_view op) {
  using Key = std::pair<absl::string_view, absl::string_view>;
  static const auto* const table = [] {
    auto* const rows = new std::map<Key, Versions>;
    for (const OperatorAttributes& row : AttributeTable()) {
      rows->emplace(Key(row.domain, row.name), ParseVersions(row.versions));
    }
    return rows;
  }();
  const auto it = table->find(Key(NormalDomain(domain), op));
  return it == table->end() ? nullptr : &it->second;
}

// Returns the names in `version`. An operator that is newer than `version` counts as its first
// version.
const Version& VersionAt(const Versions& versions, int version) {
  const auto behind =
      std::find_if(versions.begin() + 1, versions.end(),
                   [version](const Version& candidate) { return candidate.since > version; });
  return *(behind - 1);
}

bool Has(const Version& version, const std::string& name) {
  return std::find(version.names.begin(), version.names.end(), name) != version.names.end();
}

// Maximum length of a name in errors.
constexpr size_t kMaxShown = 64;

// Returns the operator sets that have an attribute if `version` does not: "up to 12" or "from 13
// on". Empty if none has it.
std::string OtherVersions(const Versions& versions, int version, const std::string& name) {
  for (size_t i = versions.size(); i-- > 0;) {
    if (!Has(versions[i], name)) continue;
    if (versions[i].since > version) return absl::StrCat("from ", versions[i].since, " on");
    return absl::StrCat("up to ", versions[i + 1].since - 1);
  }
  return "";
}

}  // namespace

const std::vector<std::string>* AttributeNames(absl::string_view domain, absl::string_view op,
                                               int version) {
  const Versions* const versions = FindVersions(domain, op);
  return versions == nullptr ? nullptr : &VersionAt(*versions, version).names;
}

absl::Status CheckAttributeNames(const onnx::NodeProto& node, int version) {
  const Versions* const versions = FindVersions(node.domain(), node.op_type());
  if (versions == nullptr) return absl::OkStatus();
  const Version& own = VersionAt(*versions, version);
  for (const onnx::AttributeProto& attr : node.attribute()) {
    if (Has(own, attr.name())) continue;
    const std::string what = absl::StrCat("attribute '", attr.name().substr(0, kMaxShown), "'");
    const std::string others = OtherVersions(*versions, version, attr.name());
    if (!others.empty()) {
      return Wrong(what, absl::StrCat("in operator set ", version),
                   absl::StrCat("operator sets ", others, ", which alone have it"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is unknown", Perhaps(attr.name(), own.names), ": ", node.op_type(),
                     " of operator set ", version, " has ",
                     own.names.empty() ? "none" : absl::StrJoin(own.names, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace kiln::onnx_frontend
