// SPDX-License-Identifier: Apache-2.0
// Damaged archives of the Model Library Format.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/artifacts.h"
#include "gtest/gtest.h"
#include "mlf/model_library.h"
#include "mlf/tar.h"
#include "mlf/testing/sample.h"
#include "tests/damage/damage.h"

namespace kiln::testing {
namespace {

constexpr size_t kParts = 8;

absl::Status Read(absl::string_view bytes) {
  // Most harmless flips are in the padding of blocks, so the files are unchanged and need no check.
  static auto& last_files = *new Artifacts;
  const absl::StatusOr<Artifacts> files = mlf::UnpackTar(bytes, "a.tar");
  if (!files.ok()) return files.status();
  if (*files == last_files) return absl::OkStatus();
  const absl::StatusOr<mlf::ModelLibrary> library = mlf::ReadArchive(bytes, "a.tar");
  if (!library.ok()) return library.status();
  last_files = *files;
  // An archive that was read can be written, and reading it again gives the same.
  const absl::StatusOr<std::string> written = mlf::WriteArchive(*library);
  EXPECT_TRUE(written.ok()) << written.status();
  if (!written.ok()) return absl::OkStatus();
  const absl::StatusOr<mlf::ModelLibrary> again = mlf::ReadArchive(*written, "a.tar");
  EXPECT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(mlf::WriteArchive(*again).value(), *written);
  return absl::OkStatus();
}

absl::Status Unpack(absl::string_view bytes) { return mlf::UnpackTar(bytes, "a.tar").status(); }

std::string WithChecksums(const std::string& executor) {
  return mlf::WriteArchive({.modules = {mlf::SampleModule("m", executor)},
                            .runtime = {{"a.h", "// A\n"}},
                            .export_time = 1'000'000'000})
      .value();
}

// An archive without checksums, so that damage reaches the readers of the files.
std::string Archive(const std::string& executor) {
  Artifacts files = mlf::UnpackTar(WithChecksums(executor), "a.tar").value();
  files.erase("SHA256SUMS");
  return mlf::PackTar(files, 1'000'000'000).value();
}

TEST(MlfDamage, Cuts) {
  for (const char* const executor : {"aot", "graph"}) ExpectCutsFail(Archive(executor), Read);
}

// The flips are divided into parts, so that they run in parallel.
class MlfFlips : public ::testing::TestWithParam<size_t> {};

TEST_P(MlfFlips, AreHarmless) {
  const std::string bytes = Archive("graph");
  ExpectFlipsAreHarmless(bytes, Read, bytes.size() * GetParam() / kParts,
                         bytes.size() * (GetParam() + 1) / kParts);
}

INSTANTIATE_TEST_SUITE_P(Part, MlfFlips, ::testing::Range(size_t{0}, kParts));

// Reading a damaged archive with checksums gives an error or the files that were written.
TEST(MlfDamage, Checksums) {
  const std::string bytes = WithChecksums("graph");
  const Artifacts files = mlf::UnpackTar(bytes, "a.tar").value();
  const auto read = [&](absl::string_view damaged) -> absl::Status {
    const absl::StatusOr<mlf::ModelLibrary> library = mlf::ReadArchive(damaged, "a.tar");
    if (!library.ok()) {
      EXPECT_TRUE(absl::StartsWith(library.status().message(), "a.tar: ")) << library.status();
      return library.status();
    }
    EXPECT_EQ(mlf::UnpackTar(damaged, "a.tar").value(), files);
    return absl::OkStatus();
  };
  ExpectFlipsAreHarmless(bytes, read, 0, std::string::npos, 7);
}

// An archive like TVM's, without central metadata.
TEST(MlfDamage, ArchivesOfTvm) {
  Artifacts files = mlf::UnpackTar(Archive("graph"), "a.tar").value();
  files.erase("metadata/m.json");
  const std::string bytes = mlf::PackTar(files, 0).value();
  ExpectCutsFail(bytes, Read);
  ExpectFlipsAreHarmless(bytes, Read, 0, std::string::npos, 17);
}

// Extended headers, which exist only for long paths.
TEST(MlfDamage, LongPaths) {
  const std::string path = absl::StrCat(std::string(150, 'a'), "/", std::string(120, 'b'));
  const std::string bytes = mlf::PackTar({{path, "text"}}, 0).value();
  ExpectCutsFail(bytes, Unpack);
  ExpectFlipsAreHarmless(bytes, Unpack);
}

}  // namespace
}  // namespace kiln::testing
