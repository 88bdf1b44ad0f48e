// SPDX-License-Identifier: Apache-2.0
// Graphs that are compiled for this machine and loaded, to compare their run times.
//
//   KILN_ASSIGN_OR_RETURN(MeasuredLibrary a, MeasuredLibrary::Make(graph, options));
//   KILN_ASSIGN_OR_RETURN(MeasuredLibrary b, MeasuredLibrary::Make(graph, other_options));
//   KILN_ASSIGN_OR_RETURN(const Comparison times, Compare(a, b, {.seconds = 0.1}));
#ifndef KILN_TOOLS_KILN_MEASURED_LIBRARY_H_
#define KILN_TOOLS_KILN_MEASURED_LIBRARY_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/lower/lower.h"
#include "compiler/options/options.h"
#include "tools/kiln/loaded_model.h"

namespace kiln::tools {

// An executor of the model, with random inputs from a fixed seed.
class MeasuredLibrary {
 public:
  // `options` must be for the C++ runtime.
  static absl::StatusOr<MeasuredLibrary> Make(const Graph& graph, const CompileOptions& options);

  // Returns the time of one run.
  absl::StatusOr<double> Seconds() const;
  // Returns the time of each operator function in one run, for code that was compiled with
  // `profile`.
  absl::StatusOr<std::map<std::string, double>> OperatorSeconds() const;

  const Lowered& lowered() const { return model_.lowered(); }

 private:
  LoadedModel model_;
};

struct CompareOptions {
  double seconds = 0.1;      // approximate duration of the measurement
  size_t evicted_bytes = 0;  // of other memory, read before every run to evict data from caches of
                             // this size
};
struct Comparison {
  double first_seconds = 0, second_seconds = 0;  // medians
};
// Runs both libraries in turns.
absl::StatusOr<Comparison> Compare(const MeasuredLibrary& first, const MeasuredLibrary& second,
                                   const CompareOptions& options);

// Compares every operator function during `seconds`. The results are medians, keyed by function.
struct OperatorComparison {
  std::map<std::string, double> first_seconds, second_seconds;
};
absl::StatusOr<OperatorComparison> CompareOperators(const MeasuredLibrary& first,
                                                    const MeasuredLibrary& second, double seconds);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MEASURED_LIBRARY_H_
