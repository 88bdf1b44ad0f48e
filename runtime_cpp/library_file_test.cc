// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_file.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

std::string TempPath(const std::string& name) {
  std::string path = ::testing::TempDir() + "/" + name;
  std::filesystem::remove(path);
  return path;
}

std::string WriteFile(const std::string& name, const std::string& bytes) {
  std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

absl::Status OpenError(const std::string& path) { return LibraryFile::Open(path).status(); }

TEST(LibraryFile, ReadsBytes) {
  const std::string path = WriteFile("bytes", "0123456789");
  LibraryFile file = LibraryFile::Open(path).value();
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(file.size(), 10u);
  std::string bytes(3, '\0');
  EXPECT_TRUE(file.Read(7, absl::MakeSpan(bytes)).ok());
  EXPECT_EQ(bytes, "789");
  EXPECT_EQ(std::string(file.Read(8, absl::MakeSpan(bytes)).message()),
            path + ": ends after 10 bytes, wanted 1 more");
  EXPECT_TRUE(absl::IsDataLoss(file.Read(1000, absl::MakeSpan(bytes))));
  EXPECT_EQ(*file.Bytes(), "0123456789");
  EXPECT_EQ(file.Bytes()->data(), file.Bytes()->data());
}

TEST(LibraryFile, HasNoBytesIfItIsEmpty) {
  LibraryFile file = LibraryFile::Open(WriteFile("empty", "")).value();
  EXPECT_EQ(file.size(), 0u);
  EXPECT_EQ(*file.Bytes(), "");
}

TEST(LibraryFile, StaysTheSameWhenItsPathIsReplaced) {
  const std::string path = WriteFile("replaced", "old");
  LibraryFile file = LibraryFile::Open(path).value();
  std::filesystem::rename(WriteFile("other", "new!"), path);
  EXPECT_EQ(*file.Bytes(), "old");
  EXPECT_TRUE(file.CheckUnchanged().ok());
  std::filesystem::remove(path);
  EXPECT_EQ(*file.Bytes(), "old");
  EXPECT_TRUE(file.CheckUnchanged().ok());
}

TEST(LibraryFile, NoticesThatItIsWrittenTo) {
  const std::string path = WriteFile("written", "old");
  const LibraryFile file = LibraryFile::Open(path).value();
  std::ofstream(path, std::ios::app) << "er";
  EXPECT_TRUE(absl::IsDataLoss(file.CheckUnchanged()));
  EXPECT_THAT(std::string(file.CheckUnchanged().message()),
              HasSubstr("/written: was written to while it was loaded"));
  const LibraryFile later = LibraryFile::Open(path).value();
  EXPECT_TRUE(later.CheckUnchanged().ok());
  const timespec times[] = {{0, UTIME_OMIT}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_TRUE(absl::IsDataLoss(later.CheckUnchanged()));
}

TEST(LibraryFile, RefusesWhatIsNoRegularFile) {
  const std::string fifo = TempPath("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(OpenError(fifo), absl::InvalidArgumentError(fifo + ": is a FIFO, wanted a file"));
  EXPECT_EQ(OpenError("/dev/null"),
            absl::InvalidArgumentError("/dev/null: is a device, wanted a file"));
  EXPECT_EQ(OpenError("/"), absl::InvalidArgumentError("/: is a folder, wanted a file"));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
  const int socket_descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  std::filesystem::remove("socket");
  ASSERT_EQ(bind(socket_descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(OpenError("socket"), absl::InvalidArgumentError("socket: is a socket, wanted a file"));
  close(socket_descriptor);
  EXPECT_EQ(OpenError(std::string("a\0b", 3)).code(), kInvalid);
}

TEST(LibraryFile, SaysThatThereIsNone) {
  for (const std::string& path :
       {TempPath("none"), WriteFile("file", "") + "/part", std::string()}) {
    EXPECT_TRUE(absl::IsNotFound(OpenError(path))) << OpenError(path);
  }
  EXPECT_THAT(std::string(OpenError("none.so").message()),
              "none.so: cannot open the file: No such file or directory");
  EXPECT_EQ(OpenError(std::string(5000, 'a')).code(), kInvalid);
}

TEST(LibraryFile, SaysThatPermissionIsDenied) {
  const std::string path = WriteFile("secret", "old");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  // The capabilities of the superuser would allow every file to be opened.
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct all[2] = {};
  ASSERT_EQ(syscall(SYS_capget, &header, all), 0);
  __user_cap_data_struct few[2] = {all[0], all[1]};
  few[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
  ASSERT_EQ(syscall(SYS_capset, &header, few), 0);
  const absl::Status status = OpenError(path);
  ASSERT_EQ(syscall(SYS_capset, &header, all), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()), EndsWith("cannot open the file: Permission denied"));
}

TEST(LibraryFile, SaysThatNoDescriptorIsLeft) {
  const std::string path = WriteFile("plain", "old");
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = OpenError(path);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), EndsWith("Too many open files"));
}

TEST(CheckReachesTo, SaysHowManyBytesAreMissing) {
  EXPECT_TRUE(CheckReachesTo(4990, 10, 5000).ok());
  EXPECT_EQ(CheckReachesTo(4991, 10, 5000),
            absl::DataLossError("is cut off after 5000 bytes of at least 5001"));
  // The end of the range exceeds 64 bits.
  EXPECT_EQ(CheckReachesTo(~uint64_t{0} - 3, 7, 5000),
            absl::DataLossError("is cut off after 5000 bytes of at least 18446744073709551615"));
}

}  // namespace
}  // namespace kiln::runtime
