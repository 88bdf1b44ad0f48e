// SPDX-License-Identifier: Apache-2.0
// Reading metadata of every version of the schema, including future ones.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "metadata/json.h"
#include "metadata/version.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

nlohmann::ordered_json ReadJson(const std::string& name) {
  return nlohmann::ordered_json::parse(std::ifstream("metadata/testdata/" + name));
}

// Returns the texts of the versions that testdata describes, keyed by version.
std::map<int, std::string> Texts() {
  std::stringstream newest;
  newest << std::ifstream("metadata/testdata/newest.json").rdbuf();
  std::map<int, std::string> texts = {{kMetadataVersion, newest.str()}};
  nlohmann::ordered_json metadata = ReadJson("newest.json");
  const nlohmann::ordered_json patches = ReadJson("older.json");
  EXPECT_EQ(patches.size(), static_cast<size_t>(kMetadataVersion - 1));
  for (int version = kMetadataVersion; patches.contains(std::to_string(version)); --version) {
    metadata = metadata.patch(patches.at(std::to_string(version)));
    metadata["version"] = version - 1;
    texts[version - 1] = metadata.dump(2) + "\n";
  }
  return texts;
}

std::string WithVersion(const std::string& text, int64_t version) {
  auto json = nlohmann::ordered_json::parse(text);
  json["version"] = version;
  json["a_field_to_come"] = 1;
  return json.dump();
}

void ExpectRefused(const std::string& text, int64_t version) {
  const absl::Status status = ParseMetadataJson(text, "m.json").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(absl::StrCat("m.json: found metadata of version ", version, ", ")),
                    HasSubstr(absl::StrCat(" to ", kMetadataVersion, " can be read"))));
}

TEST(Versions, EveryReleasedVersionIsThere) {
  const std::map<int, std::string> texts = Texts();
  for (int version = 1; version <= kMetadataVersion; ++version) {
    EXPECT_EQ(texts.count(version), 1u) << "metadata/testdata has no version " << version;
  }
  EXPECT_EQ(texts.size(), static_cast<size_t>(kMetadataVersion));
}

TEST(Versions, EveryReleasedVersionIsReadOrRefused) {
  for (const auto& [version, text] : Texts()) {
    if (version < kOldestMetadataVersion) {
      ExpectRefused(text, version);
      continue;
    }
    const absl::StatusOr<proto::Metadata> metadata = ParseMetadataJson(text, "");
    ASSERT_TRUE(metadata.ok()) << metadata.status();
    EXPECT_EQ(metadata->version(), kMetadataVersion);
    EXPECT_EQ(metadata->module_name(), "small");
    ASSERT_EQ(metadata->functions_size(), 2);
    const proto::Parameter& input = metadata->functions(0).parameters(0);
    EXPECT_EQ(input.relay_name_hint(), "input-x");
    EXPECT_EQ(input.quantization().scales(0), 0.0235f);
    EXPECT_EQ(metadata->pools(0).buffers(0).size_bytes(), 48);
  }
}

TEST(Versions, TheCurrentOneIsWhatTheRendererPrints) {
  const std::string text = Texts()[kMetadataVersion];
  EXPECT_EQ(nlohmann::json::parse(text).at("version"), kMetadataVersion);
  EXPECT_EQ(MetadataJson(*ParseMetadataJson(text, "")), text);
}

TEST(Versions, NewerOnesAreRefused) {
  const std::string text = Texts()[kMetadataVersion];
  ExpectRefused(WithVersion(text, kMetadataVersion + 1), kMetadataVersion + 1);
  ExpectRefused(WithVersion(text, int64_t{1} << 40), int64_t{1} << 40);
  ExpectRefused(WithVersion(text, 0), 0);
}

}  // namespace
}  // namespace kiln
