// SPDX-License-Identifier: Apache-2.0
// Measures other choices for the contractions of a model than the analytic model's, on this
// machine.
//
// Each distinct contraction is compiled alone, once for every choice, and measured in turns with
// the model's choice; what wins by a margin, again and again, is then measured within the whole
// model, and the whole model beside itself as it was.
#ifndef KILN_TOOLS_KILN_TUNER_H_
#define KILN_TOOLS_KILN_TUNER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"

namespace kiln::tools {

struct TunerOptions {
  // For the C++ runtime; one target, which this machine runs.
  CompileOptions compile;
  double seconds = 60;
  // What was measured before, perhaps; its choices are tried first. Null: nothing.
  const TunedTarget* before = nullptr;
  std::string file;               // that it is from: what errors name
  std::function<bool()> stopped;  // whether to end early, with what is found
  std::function<void(double fraction, const std::string& what)> progress;
  std::function<void(const std::string& line)> report;  // of every contraction that is done
};

struct TuningResult {
  TunedTarget tuned;  // the contractions that were measured
  size_t num_contractions = 0, num_choices = 0;
  size_t num_better = 0;  // contractions with another choice than the model's
  bool compared = false;  // whether the whole model was measured; not if it was stopped
  double default_ms = 0, tuned_ms = 0;
};

absl::StatusOr<TuningResult> TuneModel(const Graph& graph, const TunerOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_TUNER_H_
