// SPDX-License-Identifier: Apache-2.0
// Graphs that are compiled for this machine, loaded, and compared by how long they take.
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

// The model's executor with random inputs by a fixed seed.
class MeasuredLibrary {
 public:
  // The options are for the C++ runtime.
  static absl::StatusOr<MeasuredLibrary> Make(const Graph& graph, const CompileOptions& options);

  // Of one run.
  absl::StatusOr<double> Seconds() const;
  // Of each operator function in one run; of code that was compiled with `profile`.
  absl::StatusOr<std::map<std::string, double>> OperatorSeconds() const;

  const Lowered& lowered() const { return model_.lowered(); }

 private:
  LoadedModel model_;
};

struct CompareOptions {
  double seconds = 0.1;      // to measure for, about
  size_t evicted_bytes = 0;  // of other memory that is read before every run, so that data have
                             // left as large a cache
};
struct Comparison {
  double first_seconds = 0, second_seconds = 0;  // medians
};
// Runs of both in turns.
absl::StatusOr<Comparison> Compare(const MeasuredLibrary& first, const MeasuredLibrary& second,
                                   const CompareOptions& options);

// The same for every operator function, for so many seconds: medians by function.
struct OperatorComparison {
  std::map<std::string, double> first_seconds, second_seconds;
};
absl::StatusOr<OperatorComparison> CompareOperators(const MeasuredLibrary& first,
                                                    const MeasuredLibrary& second, double seconds);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MEASURED_LIBRARY_H_
