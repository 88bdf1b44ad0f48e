// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured: the roofs that a profile is compared with.
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
  double read_gigabytes = 0;  // 10^9 bytes per second of memory, read in order
  double copy_gigabytes = 0;  // the same of a copy, bytes read and bytes written together
};

struct MachinePeak {
  std::string instructions;  // that reach `gflops`: "avx512f"
  int64_t buffer_bytes = 0;  // of the memory that is read, more than the caches hold
  PeakRates one_thread, all_threads;
};

// Measures every figure for `seconds`, in rounds in which all take turns; the best round counts.
// Arithmetic is that of instructions which code for the target may use. All threads are those of
// the runtime's pool.
absl::StatusOr<MachinePeak> MeasureMachinePeak(const Target& target, double seconds = 0.05);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MACHINE_PEAK_H_
