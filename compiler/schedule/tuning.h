// SPDX-License-Identifier: Apache-2.0
// Tuning: how contractions are to be computed, by measurements of `kiln tune` instead of the
// analytic model. compiler/tuning reads and writes it as a file.
//
//   KILN_ASSIGN_OR_RETURN(Tuning tuning, ParseTuning(text, "model.tuning"));
//   options.schedule.tuning = std::make_shared<const Tuning>(std::move(tuning));
//
// Nothing here is trusted: ScheduleKernel checks a choice against the contraction that it is for.
#ifndef KILN_COMPILER_SCHEDULE_TUNING_H_
#define KILN_COMPILER_SCHEDULE_TUNING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/target/target.h"

namespace kiln {

// One way to compute a contraction (a sum of products). Whatever is chosen, the results are the
// same but for the order of sums.
struct ContractionChoice {
  enum class Algorithm { kDirect, kWinograd };

  Algorithm algorithm = Algorithm::kDirect;
  // Accumulators of the register tile are outer_rows × rows × vectors.
  int64_t outer_rows = 1;  // of the row axis around the innermost one; direct
  int64_t rows = 1;        // of the innermost row axis; Winograd: tiles
  int64_t vectors = 1;     // of columns
  // Direct: whether loops over columns are around those over rows.
  bool columns_outside = false;
  // Winograd: F(m × m, 3 × 3), and how many rows of tiles are a block.
  int64_t outputs = 0;
  int64_t block_rows = 0;

  friend bool operator==(const ContractionChoice&, const ContractionChoice&) = default;
};

// What was measured for one contraction.
struct TunedContraction {
  std::optional<ContractionChoice> choice;  // none: what the model chooses is the fastest
  // For people: of the model's choice, and of this one.
  double default_microseconds = 0, microseconds = 0;
};

// The measurements for one target, which has to agree in all that loops depend on.
struct TunedTarget {
  std::string name;  // as it was written; for people
  std::string triple, cpu, features;
  int cores = 1;
  std::map<std::string, TunedContraction> contractions;  // by ScheduledContraction::problem

  static TunedTarget For(const Target& target);
  // Whether both are for the same target.
  bool IsAlike(const TunedTarget& other) const;
};

struct Tuning {
  std::string file;    // what errors name
  std::string sha256;  // of the file's text
  std::vector<TunedTarget> targets;

  // Null if nothing was measured for it.
  const TunedTarget* Find(const Target& target) const;
  // Makes an empty one if there is none.
  TunedTarget& FindOrAdd(const Target& target);
};

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_TUNING_H_
