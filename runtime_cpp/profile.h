// SPDX-License-Identifier: Apache-2.0
//
// Durations of a model: of whole runs, repeated, and of single operators.
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

// One operator function within one run, the sum of all its calls.
struct OperatorTiming {
  std::string function_name;
  // Facts from the model's metadata. Unknown texts are empty, and unknown numbers are -1.
  std::string op_names;         // "nn.conv2d nn.relu"
  std::string source;           // Nodes of the model that it computes.
  std::string schedule;         // Description of its schedule.
  int64_t operations = -1;      // Operations of one call; a multiplication with its addition is 2.
  int64_t accessed_bytes = -1;  // Minimum number of bytes that one call reads and writes.
  int64_t calls = 0;
  double seconds = 0;

  // Rates over all calls, in 10^9 per second; 0 if unknown.
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
  double total_seconds = 0;               // Duration of the whole run.

  // Returns a readable table: one line per operator, slowest first, with its share of the total and
  // its schedule.
  std::string ToText() const;
  // Returns {"total_seconds": …, "operators": [{…}, …]}. Each operator has the members of
  // OperatorTiming by their names; operations and accessed_bytes only if they are known.
  std::string ToJson() const;
};

struct TimeEvaluatorOptions {
  int64_t number = 10;       // Minimum number of runs per measurement.
  int64_t repeat = 1;        // Number of measurements.
  double min_repeat_ms = 0;  // Minimum duration of a measurement; more runs are made to reach it.
};

// Returns the mean duration of a run in seconds for each measurement, after one warm-up run. Stops
// at the first error.
absl::StatusOr<std::vector<double>> TimeEvaluator(const std::function<absl::Status()>& run,
                                                  const TimeEvaluatorOptions& options);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PROFILE_H_
