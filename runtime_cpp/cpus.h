// SPDX-License-Identifier: Apache-2.0
//
// The CPUs that this process may use, and the useful number of threads on them.
//
// Compute-bound threads gain nothing from a second thread on the same core. They lose much if the
// quota of a container allows less CPU time than there are CPUs.
#ifndef KILN_RUNTIME_CPP_CPUS_H_
#define KILN_RUNTIME_CPP_CPUS_H_

#include <string>
#include <vector>

namespace kiln::runtime {

struct Cpus {
  // CPUs of the process's affinity: first one of each core, then their siblings.
  std::vector<int> order;
  // Number of cores among them.
  int num_cores = 1;
  // CPU time that the control group allows, as a number of CPUs, rounded up; 0 if unlimited.
  int quota = 0;

  // Returns the number of cores, limited by the quota.
  int UsefulThreads() const;
};

// Reads the state of the system. `sys` is the folder of the kernel's files: "/sys" except in tests.
Cpus ReadCpus(const std::string& sys = "/sys");

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CPUS_H_
