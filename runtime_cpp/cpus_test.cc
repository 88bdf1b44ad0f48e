// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpus.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

// Makes a folder that replaces /sys.
std::string MakeSys(const std::string& name) {
  const std::string sys = absl::StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove_all(sys);
  std::filesystem::create_directories(absl::StrCat(sys, "/fs/cgroup/cpu"));
  return sys;
}

void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << "\n";
}

TEST(Cpus, ThisSystemHasSome) {
  const Cpus cpus = ReadCpus();
  EXPECT_FALSE(cpus.order.empty());
  EXPECT_GE(cpus.num_cores, 1);
  EXPECT_LE(cpus.num_cores, static_cast<int>(cpus.order.size()));
  EXPECT_GE(cpus.UsefulThreads(), 1);
}

TEST(Cpus, WithoutFilesEveryCpuIsACore) {
  const Cpus cpus = ReadCpus(MakeSys("empty"));
  EXPECT_EQ(cpus.num_cores, static_cast<int>(cpus.order.size()));
  EXPECT_EQ(cpus.quota, 0);
}

TEST(Cpus, SiblingsShareACore) {
  const std::string sys = MakeSys("siblings");
  const Cpus all = ReadCpus(sys);
  for (const int cpu : all.order) {
    Write(absl::StrCat(sys, "/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"),
          "0-999");
  }
  const Cpus cpus = ReadCpus(sys);
  EXPECT_EQ(cpus.num_cores, 1);
  EXPECT_EQ(cpus.order.size(), all.order.size());
  EXPECT_EQ(cpus.UsefulThreads(), 1);
}

TEST(Cpus, QuotaOfEitherKindOfControlGroup) {
  const std::string sys = MakeSys("quota");
  Write(sys + "/fs/cgroup/cpu/cpu.cfs_quota_us", "250000");
  Write(sys + "/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(ReadCpus(sys).quota, 3);
  Write(sys + "/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(ReadCpus(sys).quota, 0);
  Write(sys + "/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(ReadCpus(sys).quota, 1);
  EXPECT_EQ(ReadCpus(sys).UsefulThreads(), 1);
  Write(sys + "/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(ReadCpus(sys).quota, 0);
}

}  // namespace
}  // namespace kiln::runtime
