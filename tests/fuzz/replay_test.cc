// SPDX-License-Identifier: Apache-2.0
// Passes the files of the corpus KILN_CORPUS to the reader KILN_READER. Seeds must be valid models.
// Findings of fuzzers (found_*) need not be.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {
namespace {

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus/" KILN_CORPUS)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Replay : public testing::TestWithParam<std::string> {};

TEST_P(Replay, IsHarmless) {
  const std::string bytes =
      ReadBytes(std::filesystem::path("tests/fuzz/corpus/" KILN_CORPUS) / GetParam());
  EXPECT_LE(bytes.size(), 16u * 1024) << "seeds are small";
  const absl::Status status = KILN_READER(bytes);
  EXPECT_TRUE(IsHarmless(status)) << status;
  if (!absl::StartsWith(GetParam(), "found_")) {
    EXPECT_TRUE(status.ok()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Replay, testing::ValuesIn(Names()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

TEST(Seeds, AreThoseThatWriteCorpusMakes) {
  for (const Seed& seed : Seeds()) {
    if (!absl::StartsWith(seed.name, KILN_CORPUS "/")) continue;
    EXPECT_EQ(ReadBytes("tests/fuzz/corpus/" + seed.name), seed.bytes)
        << seed.name << ": bazel run //tests/fuzz:write_corpus";
  }
}

}  // namespace
}  // namespace kiln::fuzz
