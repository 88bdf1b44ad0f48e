// SPDX-License-Identifier: Apache-2.0
//
// Which CPUs this process may use, and how many threads are of use on them.
//
// Compute-bound threads gain nothing from a second one on the same core, and lose much where a
// container's quota allows less CPU time than there are CPUs.
#ifndef KILN_RUNTIME_CPP_CPUS_H_
#define KILN_RUNTIME_CPP_CPUS_H_

#include <string>
#include <vector>

namespace kiln::runtime {

struct Cpus {
  // The CPUs of the process's affinity: first one of each core, then their siblings.
  std::vector<int> order;
  // Cores among them.
  int num_cores = 1;
  // CPUs' worth of time that the control group allows, rounded up; 0 if it does not say.
  int quota = 0;

  // One thread per core, within the quota.
  int UsefulThreads() const;
};

// Reads the state of the system. `sys` is where the kernel's files lie, "/sys" but in tests.
Cpus ReadCpus(const std::string& sys = "/sys");

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CPUS_H_
