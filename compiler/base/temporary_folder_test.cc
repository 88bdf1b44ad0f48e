// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace kiln {
namespace {

namespace fs = std::filesystem;

class TemporaryFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    place_ = ::testing::TempDir() + "/" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(place_);
    fs::create_directories(place_);
  }

  absl::StatusOr<TemporaryFolder> Make() const {
    return TemporaryFolder::MakeIn(place_, "no folder");
  }

  size_t NumEntries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(place_), {}));
  }

  // Makes a folder with a file in it in another process, which then calls `end`.
  template <typename End>
  void MakeInOtherProcess(const End& end) const {
    const pid_t pid = fork();
    if (pid == 0) {
      const absl::StatusOr<TemporaryFolder> folder = Make();
      if (folder.ok()) std::ofstream(folder->path() + "/file") << "contents";
      end();
      _exit(0);
    }
    waitpid(pid, nullptr, 0);
  }

  std::string place_;
};

TEST_F(TemporaryFolderTest, IsGoneWithTheObject) {
  {
    const absl::StatusOr<TemporaryFolder> folder = Make();
    ASSERT_TRUE(folder.ok());
    std::ofstream(folder->path() + "/file") << "contents";
    EXPECT_EQ(NumEntries(), 1u);
  }
  EXPECT_EQ(NumEntries(), 0u);
}

TEST_F(TemporaryFolderTest, TheNextOneRemovesThoseOfKilledProcesses) {
  MakeInOtherProcess([] { kill(getpid(), SIGKILL); });
  EXPECT_EQ(NumEntries(), 1u);
  const absl::StatusOr<TemporaryFolder> folder = Make();
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(NumEntries(), 1u);
  // Folders in use stay, and so do folders of the user, even with similar names.
  for (const char* name : {"kiln-models", ".kiln-models", ".kiln-scratch-", ".kiln-scratch-note",
                           ".kiln-scratch-abcdefg", ".other-abcdef"}) {
    fs::create_directory(place_ + "/" + name);
  }
  std::ofstream(place_ + "/.kiln-scratch-file00") << "contents";
  fs::create_directory_symlink(folder->path(), place_ + "/.kiln-scratch-link00");
  const absl::StatusOr<TemporaryFolder> second = Make();
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(fs::exists(folder->path()));
  EXPECT_EQ(NumEntries(), 10u);
}

TEST_F(TemporaryFolderTest, AProcessMayEndWithoutDestructors) {
  const absl::StatusOr<TemporaryFolder> folder = Make();
  ASSERT_TRUE(folder.ok());
  MakeInOtherProcess([] { RemoveTemporaryFolders(); });
  EXPECT_EQ(NumEntries(), 1u);
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST_F(TemporaryFolderTest, SaysWhyNoneCanBeMade) {
  const absl::StatusOr<TemporaryFolder> folder =
      TemporaryFolder::MakeIn(place_ + "/none", "no folder");
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(folder.status().message(), "no folder: No such file or directory");
}

}  // namespace
}  // namespace kiln
