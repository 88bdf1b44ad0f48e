// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_notes.h"

#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/library_notes.h"
#include "metadata/library_notes.h"
#include "metadata/metadata.pb.h"
#include "runtime_cpp/cpu/this_cpu.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;

std::string Notes(const std::vector<std::string>& features) {
  proto::Metadata metadata;
  metadata.set_cpu("x86-64-v2");
  for (const std::string& feature : features) metadata.add_cpu_features(feature);
  return LibraryNotes(metadata);
}

ReadBytes ReaderOf(const std::string& bytes) {
  return [&bytes](uint64_t offset, char* to, size_t count) {
    if (offset > bytes.size() || count > bytes.size() - offset) return false;
    std::memcpy(to, bytes.data() + offset, count);
    return true;
  };
}

absl::StatusOr<std::string> Find(const std::string& bytes, uint64_t alignment = 4) {
  return FindCpuNote(ReaderOf(bytes), {0, bytes.size(), alignment});
}

TEST(LibraryNotes, TheNoteOfTheCpuIsFound) {
  EXPECT_EQ(*Find(Notes({"sse3", "ssse3"})), "x86-64-v2\nsse3,ssse3");
  EXPECT_EQ(*Find(Notes({})), "x86-64-v2\n");
  EXPECT_EQ(*Find(""), "");
  // The note comes after a note of another owner.
  const std::string other({4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9});
  EXPECT_EQ(*Find(other + Notes({"sse3"})), "x86-64-v2\nsse3");
  EXPECT_EQ(*Find(other), "");
}

// With an alignment of 8, descriptors and notes are at other offsets.
TEST(LibraryNotes, TheNoteOfTheCpuIsFoundIfNotesAreAlignedTo8) {
  const auto note = [](const std::string& owner, uint32_t type, const std::string& descriptor) {
    const uint32_t header[] = {static_cast<uint32_t>(owner.size()),
                               static_cast<uint32_t>(descriptor.size()), type};
    std::string bytes(reinterpret_cast<const char*>(header), sizeof(header));
    for (const std::string& part : {owner, descriptor}) {
      bytes += part;
      bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    return bytes;
  };
  const std::string owner(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER));
  const std::string gnu("GNU", 4), cpu = "x86-64-v2\nsse3,ssse3";
  // With an alignment of 4, each of the other notes would end at another offset.
  for (size_t bytes = 0; bytes < 16; ++bytes) {
    const std::string notes =
        note(gnu, 1, std::string(bytes, 'x')) + note(owner, KILN_NOTE_CPU, cpu);
    EXPECT_EQ(*Find(notes, 8), cpu) << bytes;
    EXPECT_EQ(*Find(note("x", 1, std::string(bytes, 'x')) + notes, 8), cpu) << bytes;
  }
}

TEST(LibraryNotes, DamageIsAnErrorOrOtherNotes) {
  const std::string notes = Notes({"sse3", "ssse3"});
  size_t errors = 0;
  for (size_t bit = 0; bit < 8 * notes.size(); ++bit) {
    std::string flipped = notes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    for (const uint64_t alignment : {4, 8}) {
      const absl::StatusOr<std::string> found = Find(flipped, alignment);
      errors += found.ok() ? 0 : 1;
      if (found.ok()) CheckCpuNote(*found).IgnoreError();
    }
  }
  EXPECT_GT(errors, 20u);
  for (size_t size = 0; size < notes.size(); ++size) {
    // The segment is longer than the file.
    const std::string cut = notes.substr(0, size);
    EXPECT_FALSE(FindCpuNote(ReaderOf(cut), {0, notes.size(), 4}).ok() &&
                 size < sizeof(uint32_t) * 3);
    Find(cut).status().IgnoreError();
  }
}

TEST(LibraryNotes, FeaturesOfThisCpuAreFine) {
  EXPECT_TRUE(CheckCpuNote("").ok());
  EXPECT_TRUE(CheckCpuNote("x86-64\n").ok());
  EXPECT_TRUE(CheckCpuNote("some-cpu\nno-such-feature").ok());
}

TEST(LibraryNotes, FeaturesThatThisCpuLacksAreNamed) {
  std::vector<std::string> all;
  for (const CpuFeature& feature : X86Features()) all.emplace_back(feature.name);
  const std::vector<std::string> missing = MissingFeatures(all);
  if (missing.empty()) GTEST_SKIP() << "this CPU has every feature of the table";
  const absl::Status status = CheckCpuFeatures("x86-64-v2", {"sse3", missing[0]});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("is built for x86-64-v2 with " + missing[0] + ", this CPU lacks " +
                        missing[0] + "; it runs what is compiled with --target x86-64"));
}

}  // namespace
}  // namespace kiln::runtime
