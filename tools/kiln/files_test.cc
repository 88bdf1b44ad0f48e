// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/files.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "absl/strings/match.h"

namespace {

// Called before each call that changes the disk. If the result is not 0, the call fails with this
// error number.
std::function<int()> before_change;  // NOLINT: a test has one thread at a time

template <typename... Args>
int Change(const char* name, Args... args) {
  if (before_change != nullptr) {
    if (const int error = before_change(); error != 0) {
      errno = error;
      return -1;
    }
  }
  return reinterpret_cast<int (*)(Args...)>(dlsym(RTLD_NEXT, name))(args...);
}

}  // namespace

// Replace the system's functions.
extern "C" {
int rename(const char* from, const char* to) noexcept { return Change("rename", from, to); }
int link(const char* from, const char* to) noexcept { return Change("link", from, to); }
int mkdir(const char* path, mode_t mode) noexcept { return Change("mkdir", path, mode); }
int close(int file) { return Change("close", file); }
}

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name)) << bytes;
  }

  // Returns the files of the folder and its subfolders, keyed by path.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      std::string& text = contents[entry.path().lexically_relative(folder_)];
      std::error_code circle;
      if (!entry.is_regular_file(circle)) continue;
      std::ifstream file(entry.path());
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return contents;
  }

  std::string folder_;
};

using Files = std::map<std::string, std::string>;

TEST_F(FilesTest, WritesIntoNewFolders) {
  ASSERT_TRUE(WriteFiles(Path("a/b"), {{"x", "1"}, {"y", "2"}}).ok());
  EXPECT_EQ(Contents(), (Files{{"a", ""}, {"a/b", ""}, {"a/b/x", "1"}, {"a/b/y", "2"}}));
}

TEST_F(FilesTest, AllOrNone) {
  Write("a", "old a");
  Write("a.tmp", "the user's");
  fs::create_directories(Path("z"));
  const Files before = Contents();
  for (const FileChanges& changes : {
           FileChanges{.files = {{Path("a"), "new"}, {Path("b"), "new"}, {Path("z"), "new"}}},
           FileChanges{.files = {{Path("a"), "new"}, {Path("made/b"), ""}, {Path("a/c"), ""}}},
           FileChanges{.files = {{Path("b"), "1"}, {Path("./z/../b"), "2"}}},
       }) {
    EXPECT_FALSE(Apply(changes).ok());
    EXPECT_EQ(Contents(), before);
  }
  ASSERT_TRUE(Apply({.files = {{Path("a"), "new"}}}).ok());
  EXPECT_EQ(Contents(), (Files{{"a", "new"}, {"a.tmp", "the user's"}, {"z", ""}}));
}

const Files kOld = {{"a.h", "old"}, {"a.json", "old"}, {"a.so", "old"}, {"users", "stays"}};
const Files kNew = {{"a.h", "new"}, {"a.json", "new"}, {"a.so", "new"}, {"users", "stays"}};

// Returns changes as a compiler makes them: a library and its descriptions.
FileChanges NewLibrary(const std::string& folder) {
  FileChanges changes;
  for (const char* name : {"a.so", "a.h", "a.json"}) {
    changes.files.push_back({folder + "/" + name, "new"});
  }
  return changes;
}

// A process that is killed at any moment leaves a library, and no files that belong to another one.
TEST_F(FilesTest, FilesOfTwoGenerationsNeverLieTogether) {
  size_t incomplete = 0;
  int status = 1;
  for (int calls = 0; status != 0; ++calls) {
    SCOPED_TRACE(calls);
    ASSERT_LT(calls, 100);
    for (const auto& [name, text] : kOld) Write(name, text);
    const pid_t pid = fork();
    if (pid == 0) {
      before_change = [left = calls]() mutable -> int {
        if (left-- == 0) _exit(1);
        return 0;
      };
      _exit(Apply(NewLibrary(folder_)).ok() ? 0 : 2);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    Files left;
    for (const auto& [name, text] : Contents()) {
      if (!absl::StartsWith(name, ".kiln-")) left[name] = text;
    }
    ASSERT_TRUE(left.contains("a.so"));
    incomplete += left != kOld && left != kNew;
    for (const auto& [name, text] : left) {
      EXPECT_EQ(text, name == "users" ? "stays" : left["a.so"]) << name;
    }
    // The next call completes the work and removes leftovers of the killed one.
    ASSERT_TRUE(Apply(NewLibrary(folder_)).ok());
    EXPECT_EQ(Contents(), kNew);
  }
  EXPECT_GT(incomplete, 0u);  // otherwise no state between the moves was tested
}

TEST_F(FilesTest, WhatFailsIsUndone) {
  size_t failures = 0;
  bool reached = true;
  for (int calls = 0; reached; ++calls) {
    SCOPED_TRACE(calls);
    ASSERT_LT(calls, 100);
    for (const auto& [name, text] : kOld) Write(name, text);
    reached = false;
    before_change = [&reached, left = calls]() mutable {
      reached = reached || left == 0;
      return left-- == 0 ? ENOSPC : 0;
    };
    const absl::Status status = Apply(NewLibrary(folder_));
    before_change = nullptr;
    if (status.ok()) {  // an error without consequences, or none
      EXPECT_EQ(Contents(), kNew);
      continue;
    }
    ++failures;
    EXPECT_EQ(Contents(), kOld);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr("written: No space left on device"));
  }
  EXPECT_GE(failures, 7u);  // each file written, each old one moved away, each new one moved in
}

TEST_F(FilesTest, SymbolicLinksStay) {
  fs::create_directories(Path("real"));
  Write("real/a", "old");
  fs::create_symlink("real/a", Path("to_a"));
  fs::create_symlink("to_a", Path("to_to_a"));
  fs::create_symlink("real/b", Path("to_none"));
  fs::create_symlink("circle", Path("circle"));
  ASSERT_TRUE(WriteFiles(folder_, {{"to_to_a", "new"}, {"to_none", "b"}}).ok());
  EXPECT_TRUE(fs::is_symlink(Path("to_to_a")) && fs::is_symlink(Path("to_none")));
  EXPECT_FALSE(fs::is_symlink(Path("real/a")) || fs::is_symlink(Path("real/b")));
  EXPECT_EQ(Contents().at("real/a"), "new");
  EXPECT_EQ(Contents().at("real/b"), "b");
  EXPECT_FALSE(WriteFiles(folder_, {{"circle", ""}}).ok());
  EXPECT_FALSE(WriteFiles(folder_, {{"to_a", "1"}, {"to_to_a", "2"}}).ok());
}

TEST_F(FilesTest, FifosAreWrittenTo) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", Path("to_fifo"));
  for (const char* name : {"fifo", "to_fifo"}) {
    std::string read;
    std::thread reader([&] {
      std::ifstream file(Path("fifo"));
      read.assign(std::istreambuf_iterator<char>(file), {});
    });
    EXPECT_TRUE(WriteFiles(folder_, {{name, "through"}}).ok());
    reader.join();
    EXPECT_EQ(read, "through");
    EXPECT_TRUE(fs::is_fifo(Path("fifo")));
  }
}

TEST_F(FilesTest, PermissionsStay) {
  Write("script", "old");
  fs::permissions(Path("script"), fs::perms(0750));
  ASSERT_TRUE(WriteFiles(folder_, {{"script", "new"}, {"other", "new"}}).ok());
  EXPECT_EQ(fs::status(Path("script")).permissions(), fs::perms(0750));
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(fs::status(Path("other")).permissions(), fs::perms(0666 & ~mask));
}

TEST_F(FilesTest, InputsStay) {
  Write("model", "weights");
  fs::create_symlink("model", Path("link"));
  for (const char* name : {"model", "link", "./model"}) {
    const absl::Status status = Apply({.files = {{Path(name), "plan"}}, .inputs = {Path("model")}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("is what is read"));
  }
  EXPECT_EQ(Contents().at("model"), "weights");
}

TEST_F(FilesTest, FoldersOfNoUseAreRemoved) {
  {
    const absl::StatusOr<OutputFolder> unused = OutputFolder::Make(Path("a/b/c"));
    ASSERT_TRUE(unused.ok());
    EXPECT_TRUE(fs::is_directory(Path("a/b/c")));
  }
  EXPECT_EQ(Contents(), Files());
  Write("file", "");
  EXPECT_FALSE(OutputFolder::Make(Path("file")).ok());
  EXPECT_FALSE(OutputFolder::Make(Path("file/below")).ok());
}

}  // namespace
}  // namespace kiln::tools
