// SPDX-License-Identifier: Apache-2.0
// Measures choices for a model's contractions on this machine, as alternatives to those of the
// analytic model.
//
// Each distinct contraction is compiled separately, once per choice, and measured in turns with the
// analytic model's choice. A choice that repeatedly wins by a margin is then measured within the
// whole model. Finally the tuned model is compared with the original one.
#ifndef KILN_TOOLS_KILN_TUNER_H_
#define KILN_TOOLS_KILN_TUNER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"

namespace kiln::tools {

struct TunerOptions {
  // For the C++ runtime and one target, which this machine can run.
  CompileOptions compile;
  double seconds = 60;
  // Earlier measurements, whose choices are tried first. Null if there are none.
  const TunedTarget* before = nullptr;
  std::string file;               // the file with `before`, for errors
  std::function<bool()> stopped;  // returns true to end early with the results so far
  std::function<void(double fraction, const std::string& what)> progress;
  std::function<void(const std::string& line)> report;  // called for every finished contraction
};

struct TuningResult {
  TunedTarget tuned;  // the measured contractions
  size_t num_contractions = 0, num_choices = 0;
  size_t num_better = 0;  // contractions for which another choice than the analytic model's won
  bool compared = false;  // true if the whole model was measured; false if tuning was stopped
  double default_ms = 0, tuned_ms = 0;
};

absl::StatusOr<TuningResult> TuneModel(const Graph& graph, const TunerOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TUNER_H_
