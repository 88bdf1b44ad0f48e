// SPDX-License-Identifier: Apache-2.0
//
// How long a model takes: as a whole, repeated, and operator by operator.
//
//   absl::StatusOr<std::vector<double>> seconds =
//       TimeEvaluator([&] { return executor.Run(); }, TimeEvaluatorOptions());
#ifndef KILN_RUNTIME_CPP_PROFILE_H_
#define KILN_RUNTIME_CPP_PROFILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln::runtime {

// One operator function within one run, all its calls together.
struct OperatorTiming {
  std::string function_name;
  // What the model's metadata says of it; empty texts and -1 where it says nothing.
  std::string op_names;         // "nn.conv2d nn.relu"
  std::string source;           // The model's nodes that it computes.
  std::string schedule;         // How it computes them.
  int64_t operations = -1;      // Arithmetic of one call: a multiplication and its addition are 2.
  int64_t accessed_bytes = -1;  // That one call reads and writes at least.
  int64_t calls = 0;
  double seconds = 0;

  // Of all its calls, in 10^9 per second; 0 where that is not known.
  double GflopsPerSecond() const { return Rate(operations); }
  double GigabytesPerSecond() const { return Rate(accessed_bytes); }

 private:
  double Rate(int64_t per_call) const {
    if (per_call < 0 || !(seconds > 0)) return 0;
    return static_cast<double>(per_call) * static_cast<double>(calls) / seconds * 1e-9;
  }
};

struct ProfileReport {
  std::vector<OperatorTiming> operators;  // In the order of their first call.
  double total_seconds = 0;               // Of the whole run.

  // A table for people: one line per operator, the slowest first, with its share of the total and
  // its schedule.
  std::string ToText() const;
  // {"total_seconds": …, "operators": [{…}, …]}: the members of OperatorTiming by their names,
  // operations and accessed_bytes where they are known.
  std::string ToJson() const;
};

struct TimeEvaluatorOptions {
  int64_t number = 10;       // Runs per measurement, at least.
  int64_t repeat = 1;        // Measurements.
  double min_repeat_ms = 0;  // A measurement is made of more runs until it takes so long.
};

// The mean seconds per run of each measurement, after one run to warm up. Stops at the first error.
absl::StatusOr<std::vector<double>> TimeEvaluator(const std::function<absl::Status()>& run,
                                                  const TimeEvaluatorOptions& options);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PROFILE_H_
