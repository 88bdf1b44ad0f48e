// SPDX-License-Identifier: Apache-2.0
//
// Loads a path again after its file has been replaced, while models of the earlier file are in use.
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/testdata/floats.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Results of the versions: (x + y) + x and (x + y) + (x + y).
constexpr const char* kVersions[] = {"runtime_cpp/testdata/add_aot.so",
                                     "runtime_cpp/testdata/add_aot_next.so"};
constexpr float kResults[] = {12, 22};

float Result(const Model& model) {
  const absl::StatusOr<std::vector<NDArray>> outputs =
      model.Run({Floats({1, 1, 1, 1}), Floats({10, 10, 10, 10})});
  return outputs.ok() ? outputs->front().values<float>()[3] : -1;
}

float LoadedResult(const std::string& path) {
  const absl::StatusOr<Model> model = Model::Load(path);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? Result(*model) : -1;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Returns the number of bytes that the program has allocated and not freed.
size_t AllocatedBytes() { return mallinfo2().uordblks; }

class Reload : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Copy(0, path_);
  }

  static void Copy(int version, const fs::path& path) {
    fs::remove(path);
    WriteFile(path, ReadFile(kVersions[version]));
  }

  // Replaces path_ by another version. Each of the three ways gives it another inode.
  void Rename(int version) const {
    Copy(version, folder_ / "new.so");
    fs::rename(folder_ / "new.so", path_);
  }
  void RemoveAndCopy(int version) const { Copy(version, path_); }
  void SwapLink(int version) const {
    const fs::path target = folder_ / ("v" + std::to_string(version) + ".so");
    if (!fs::exists(target)) Copy(version, target);
    fs::remove(folder_ / "link");
    fs::create_symlink(target, folder_ / "link");
    fs::rename(folder_ / "link", path_);
  }

  using Replace = std::function<void(int version)>;
  std::vector<Replace> ways() const {
    return {[this](int version) { Rename(version); },
            [this](int version) { RemoveAndCopy(version); },
            [this](int version) { SwapLink(version); }};
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "reload";
  const fs::path path_ = folder_ / "add.so";
};

TEST_F(Reload, GivesTheNewModelWhileTheOldOneLives) {
  for (const Replace& replace : ways()) {
    std::vector<Model> models;
    for (int i = 0; i < 6; ++i) {
      replace(i % 2);
      models.push_back(Model::Load(path_).value());
      EXPECT_EQ(Result(models.back()), kResults[i % 2]) << i;
    }
    for (size_t i = 0; i < models.size(); ++i) EXPECT_EQ(Result(models[i]), kResults[i % 2]) << i;
  }
}

// File systems reuse the inode of a deleted file.
TEST_F(Reload, GivesTheNewModelAfterTheOldOneIsGone) {
  for (const Replace& replace : ways()) {
    for (int i = 0; i < 6; ++i) {
      replace(i % 2);
      EXPECT_EQ(LoadedResult(path_), kResults[i % 2]) << i;
    }
  }
}

TEST_F(Reload, RunsAModelWhoseFileIsGone) {
  const Model model = Model::Load(path_).value();
  fs::remove(path_);
  EXPECT_EQ(Result(model), kResults[0]);
  EXPECT_TRUE(absl::IsNotFound(Model::Load(path_).status()));
}

void* AddressIn(const Module& module) {
  return FindLibrary(module.node())->FindSymbol("get_model_metadata");
}

TEST_F(Reload, SharesAFileThatIsTheSame) {
  const Module module = Module::LoadFromFile(path_).value();
  const fs::path other = folder_ / "other.so", link = folder_ / "link.so";
  fs::rename(path_, other);
  fs::create_hard_link(other, path_);
  fs::create_symlink(other, link);
  for (const fs::path& path : {path_, other, link}) {
    EXPECT_EQ(AddressIn(Module::LoadFromFile(path).value()), AddressIn(module)) << path;
  }
  Copy(0, folder_ / "copy.so");
  EXPECT_NE(AddressIn(Module::LoadFromFile(folder_ / "copy.so").value()), AddressIn(module));
}

// The loader keeps every name that is passed to it for a file that it has loaded.
TEST_F(Reload, LoadingAnotherTimeKeepsNoMemory) {
  const Model model = Model::Load(path_).value();
  EXPECT_EQ(LoadedResult(path_), kResults[0]);
  const size_t before = AllocatedBytes();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(LoadedResult(path_), kResults[0]) << i;
  EXPECT_LT(AllocatedBytes(), before + 200 * size_t{8});
}

// Zeros at the end of the file change neither code nor data.
TEST_F(Reload, RefusesAFileThatWasWrittenToWhileItIsLoaded) {
  {
    const Model model = Model::Load(path_).value();
    std::ofstream(path_, std::ios::app) << std::string(64, '\0');
    const absl::Status status = Model::Load(path_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("add.so: the file was written to while a model of it is loaded"));
    EXPECT_EQ(Result(model), kResults[0]);
  }
  EXPECT_EQ(LoadedResult(path_), kResults[0]);
}

// The thread whose load is refused may hold the last reference to the model.
TEST_F(Reload, RefusesAFileThatWasWrittenToWhileItsModelGoes) {
  for (int i = 0; i < 200; ++i) {
    Rename(0);
    std::optional<Model> model = Model::Load(path_).value();
    std::ofstream(path_, std::ios::app) << std::string(64, '\0');
    std::atomic<bool> started = false;
    std::thread thread([&] {
      absl::Status status;
      do {
        status = Model::Load(path_).status();
        started = true;
      } while (absl::IsFailedPrecondition(status));
      EXPECT_TRUE(status.ok()) << status;
    });
    while (!started) std::this_thread::yield();
    model.reset();
    thread.join();
  }
}

TEST_F(Reload, SharesAFileThatWasWrittenToWithTheSameChecksum) {
  const auto touch = [this] {
    const timespec times[] = {{0, UTIME_OMIT}, {1, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  };
  {
    const Model model = Model::Load(path_).value();
    touch();
    EXPECT_TRUE(absl::IsFailedPrecondition(Model::Load(path_).status()));
  }
  std::string bytes = ReadFile(path_);
  AppendLibraryChecksum(bytes);
  WriteFile(path_, bytes);
  const Model model = Model::Load(path_).value();
  touch();
  EXPECT_EQ(LoadedResult(path_), kResults[0]);
  const LoadOptions unchecked = {.check_checksum = false};
  EXPECT_TRUE(absl::IsFailedPrecondition(Model::Load(path_, kCpu, unchecked).status()));
}

TEST_F(Reload, ShowsThePathOfTheFile) {
  const fs::path link = folder_ / "link.so";
  fs::create_symlink(path_, link);
  const Module first = Module::LoadFromFile(link).value();
  Rename(1);
  const Module second = Module::LoadFromFile(path_).value();
  Dl_info info = {};
  ASSERT_NE(dladdr(AddressIn(first), &info), 0);
  EXPECT_EQ(std::string(info.dli_fname), fs::canonical(folder_) / "add.so");
  ASSERT_NE(dladdr(AddressIn(second), &info), 0);
  EXPECT_EQ(std::string(info.dli_fname), fs::canonical(folder_) / "add.so");
}

// Two threads may load the file at the same time. One of them then discards its load.
TEST_F(Reload, ShowsThePathOfAFileThatThreadsLoadAndDrop) {
  const std::string shown = fs::canonical(path_);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const absl::StatusOr<Module> module = Module::LoadFromFile(path_);
        Dl_info info = {};
        wrong += !module.ok() || dladdr(AddressIn(*module), &info) == 0 || info.dli_fname != shown;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The loader would expand these names in a path.
TEST_F(Reload, TakesAFolderByItsName) {
  for (const char* const name : {"$ORIGIN", "${LIB}", "$PLATFORM", "a b", "%n", "\xff"}) {
    fs::create_directory(folder_ / name);
    Copy(1, folder_ / name / "add.so");
    EXPECT_EQ(LoadedResult(folder_ / name / "add.so"), kResults[1]) << name;
    WriteFile(folder_ / name / "add.so", ReadFile(path_).substr(0, 5000));
    EXPECT_THAT(std::string(Model::Load(folder_ / name / "add.so").status().message()),
                HasSubstr(std::string("/") + name + "/add.so: "));
  }
}

TEST_F(Reload, NamesThePathInTheLoadersErrors) {
  std::string bytes = ReadFile(path_);
  // The ABI of another operating system.
  bytes[7] = '\x11';
  WriteFile(path_, bytes);
  const std::string error(Model::Load(path_).status().message());
  EXPECT_THAT(error, HasSubstr("cannot load a shared object: " + path_.string() + ": "));
  EXPECT_THAT(error, Not(HasSubstr("/proc")));
}

// Each thread knows the expected version, because the file is not replaced during a load.
TEST_F(Reload, IsRightInManyThreads) {
  for (const Replace& replace : ways()) {
    replace(0);
    std::shared_mutex mutex;
    int version = 0;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        std::optional<Model> earlier;
        for (int i = 0; i < 30; ++i) {
          std::shared_lock lock(mutex);
          absl::StatusOr<Model> model = Model::Load(path_);
          const float wanted = kResults[version];
          lock.unlock();
          wrong += !model.ok() || Result(*model) != wanted;
          if (model.ok()) earlier = *std::move(model);
        }
      });
    }
    for (int i = 1; i <= 20; ++i) {
      const std::unique_lock lock(mutex);
      version = i % 2;
      replace(version);
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace kiln::runtime
