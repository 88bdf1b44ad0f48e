// SPDX-License-Identifier: Apache-2.0
// Measures the peak rates of this machine, which are the roofs for a profile.
//
//   KILN_ASSIGN_OR_RETURN(const MachinePeak peak, MeasureMachinePeak(target));
//   peak.all_threads.gflops  // of multiply-adds of float32 in registers
#ifndef KILN_TOOLS_KILN_MACHINE_PEAK_H_
#define KILN_TOOLS_KILN_MACHINE_PEAK_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace kiln::tools {

struct PeakRates {
  int threads = 1;
  double gflops = 0;          // 10^9 operations per second; a multiply-add is 2
  double read_gigabytes = 0;  // 10^9 bytes per second, sequential reads from memory
  double copy_gigabytes = 0;  // the same for a copy, sum of bytes read and bytes written
};

struct MachinePeak {
  std::string instructions;  // that reach `gflops`: "avx512f"
  int64_t buffer_bytes = 0;  // size of the memory that is read, larger than the caches
  PeakRates one_thread, all_threads;
};

// Measures every figure for `seconds`, in rounds in which the figures take turns. The best round
// counts. Arithmetic uses instructions that are allowed in code for the target. "All threads" are
// those of the runtime's pool.
absl::StatusOr<MachinePeak> MeasureMachinePeak(const Target& target, double seconds = 0.05);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MACHINE_PEAK_H_
