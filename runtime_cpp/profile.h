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
  std::string op_names;  // "nn.conv2d nn.relu"; empty if the model does not say.
  int64_t calls = 0;
  double seconds = 0;
};

struct ProfileReport {
  std::vector<OperatorTiming> operators;  // In the order of their first call.
  double total_seconds = 0;               // Of the whole run.

  // A table for people: one line per operator, the slowest first, with its share of the total.
  std::string ToText() const;
  // {"total_seconds": …, "operators": [{"function_name": …, "op_names": …, "calls": …, "seconds":
  // …}]}
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
