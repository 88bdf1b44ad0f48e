// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpus.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kiln::runtime {
namespace {

// Returns the first two words of a file, or fewer if it has fewer or cannot be read.
std::vector<std::string> Words(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; words.size() < 2 && file >> word;) words.push_back(word);
  return words;
}

int DivideUp(const std::string& quota, const std::string& period) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  // "max" or -1 mean that there is no quota.
  if (!absl::SimpleAtoi(quota, &quota_us) || !absl::SimpleAtoi(period, &period_us) ||
      quota_us <= 0 || period_us <= 0) {
    return 0;
  }
  return static_cast<int>(std::min<int64_t>(CPU_SETSIZE, (quota_us - 1) / period_us + 1));
}

int ReadQuota(const std::string& sys) {
  const std::vector<std::string> both = Words(absl::StrCat(sys, "/fs/cgroup/cpu.max"));
  if (both.size() == 2) return DivideUp(both[0], both[1]);
  const std::vector<std::string> quota =
      Words(absl::StrCat(sys, "/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const std::vector<std::string> period =
      Words(absl::StrCat(sys, "/fs/cgroup/cpu/cpu.cfs_period_us"));
  return quota.empty() || period.empty() ? 0 : DivideUp(quota[0], period[0]);
}

std::vector<int> AffinityCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

}  // namespace

int Cpus::UsefulThreads() const { return quota > 0 ? std::min(num_cores, quota) : num_cores; }

Cpus ReadCpus(const std::string& sys) {
  Cpus cpus;
  std::vector<int> siblings;
  std::set<std::string> cores;
  for (const int cpu : AffinityCpus()) {
    const std::vector<std::string> core =
        Words(absl::StrCat(sys, "/devices/system/cpu/cpu", cpu, "/topology/thread_siblings_list"));
    // If the system does not list siblings, each CPU counts as a core.
    const bool first = cores.insert(core.empty() ? absl::StrCat("cpu", cpu) : core[0]).second;
    (first ? cpus.order : siblings).push_back(cpu);
  }
  cpus.num_cores = static_cast<int>(cpus.order.size());
  cpus.order.insert(cpus.order.end(), siblings.begin(), siblings.end());
  cpus.quota = ReadQuota(sys);
  return cpus;
}

}  // namespace kiln::runtime
