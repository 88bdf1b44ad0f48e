// SPDX-License-Identifier: Apache-2.0
// Damaged shared objects, loaded as a program loads them: truncated files, flipped bits anywhere in
// a library with a checksum, and flipped bits in the blob of modules in a library without one.
// (Without a checksum, a flip in the code changes a program and cannot be detected.)
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/module.h"
#include "tests/damage/damage.h"

namespace kiln::testing {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

absl::Status Load(absl::string_view bytes) {
  const fs::path path = fs::path(::testing::TempDir()) / "damaged.so";
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  absl::Status status;
  {
    const absl::StatusOr<runtime::Module> factory = runtime::Module::LoadFromFile(path.string());
    status = factory.status();
    if (factory.ok()) {
      EXPECT_FALSE(factory->type_key().empty());
      factory->FunctionNames();
      runtime::Executor::Create(*factory, runtime::kCpu).status().IgnoreError();
    }
  }
  fs::remove(path);
  return status;
}

class LibraryDamage : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string bytes_ = ReadFile(std::string("runtime_cpp/testdata/") + GetParam());
};

TEST_P(LibraryDamage, Cuts) {
  ASSERT_TRUE(Load(bytes_).ok()) << Load(bytes_);
  for (size_t size = 0; size < bytes_.size(); size += size < 512 ? 7 : 61) {
    const absl::Status status = Load(absl::string_view(bytes_).substr(0, size));
    EXPECT_FALSE(status.ok()) << size;
    EXPECT_FALSE(status.message().empty()) << size;
  }
}

TEST_P(LibraryDamage, FlipsUnderAChecksum) {
  std::string bytes = bytes_;
  runtime::AppendLibraryChecksum(bytes);
  ASSERT_TRUE(Load(bytes).ok()) << Load(bytes);
  const auto refuse = [&](absl::string_view damaged) {
    const absl::Status status = Load(damaged);
    if (damaged == bytes) return status;
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_NE(status.message().find(".so: found "), absl::string_view::npos) << status;
    return status;
  };
  ExpectFlipsAreHarmless(bytes, refuse, 0, bytes_.size(), 29);
}

TEST_P(LibraryDamage, ChecksumIsSkippedOnRequest) {
  std::string bytes = bytes_;
  runtime::AppendLibraryChecksum(bytes);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_FALSE(Load(bytes).ok());
  const std::string path = ::testing::TempDir() + "/unchecked.so";
  std::ofstream(path, std::ios::binary) << bytes;
  const auto factory = runtime::Module::LoadFromFile(path, {.check_checksum = false});
  EXPECT_TRUE(factory.ok()) << factory.status();
}

TEST_P(LibraryDamage, FlipsInTheBlob) {
  // The blob begins with two 8-byte numbers and the length of the first key.
  const std::string key =
      std::strcmp(GetParam(), "add_graph.so") == 0 ? "GraphExecutorFactory" : "AotExecutorFactory";
  const size_t at = bytes_.find(key);
  ASSERT_NE(at, std::string::npos);
  const size_t begin = at - 3 * sizeof(uint64_t);
  uint64_t size = 0;
  std::memcpy(&size, bytes_.data() + begin, sizeof(size));
  ASSERT_LT(size, 4096u);
  ExpectFlipsAreHarmless(bytes_, Load, begin, begin + sizeof(uint64_t) + size);
}

INSTANTIATE_TEST_SUITE_P(Executor, LibraryDamage, ::testing::Values("add_aot.so", "add_graph.so"),
                         [](const auto& info) { return std::string(info.param, 7); });

}  // namespace
}  // namespace kiln::testing
