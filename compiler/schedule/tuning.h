// SPDX-License-Identifier: Apache-2.0
// Tuning: measurements of `kiln tune` that replace the analytic model's choices for contractions.
// compiler/tuning reads and writes it as a file.
//
//   KILN_ASSIGN_OR_RETURN(Tuning tuning, ParseTuning(text, "model.tuning"));
//   options.schedule.tuning = std::make_shared<const Tuning>(std::move(tuning));
//
// The contents are not trusted: ScheduleKernel checks each choice against its contraction.
#ifndef KILN_COMPILER_SCHEDULE_TUNING_H_
#define KILN_COMPILER_SCHEDULE_TUNING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/target/target.h"

namespace kiln {

// One way to compute a contraction (a sum of products). All choices give the same results, except
// for the order of sums.
struct ContractionChoice {
  enum class Algorithm { kDirect, kWinograd };

  Algorithm algorithm = Algorithm::kDirect;
  // The register tile has outer_rows × rows × vectors accumulators.
  int64_t outer_rows = 1;  // along the row axis around the innermost one; direct only
  int64_t rows = 1;        // along the innermost row axis; Winograd: tiles
  int64_t vectors = 1;     // vectors of columns
  // Direct: true if loops over columns are around loops over rows.
  bool columns_outside = false;
  // Winograd: m of F(m × m, 3 × 3), and the number of rows of tiles in a block.
  int64_t outputs = 0;
  int64_t block_rows = 0;

  friend bool operator==(const ContractionChoice&, const ContractionChoice&) = default;
};

// Measurements of one contraction.
struct TunedContraction {
  std::optional<ContractionChoice> choice;  // none: the model's choice is the fastest
  // Times of the model's choice and of this one, for people.
  double default_microseconds = 0, microseconds = 0;
};

// Measurements for one target, which has to agree in everything that loops depend on.
struct TunedTarget {
  std::string name;  // as the user wrote it; for people
  std::string triple, cpu, features;
  int cores = 1;
  std::map<std::string, TunedContraction> contractions;  // keyed by ScheduledContraction::problem

  static TunedTarget For(const Target& target);
  // True if both are for the same target.
  bool IsAlike(const TunedTarget& other) const;
};

struct Tuning {
  std::string file;    // file name for errors
  std::string sha256;  // hash of the file's text
  std::vector<TunedTarget> targets;

  // Returns the measurements for a target; null if there are none.
  const TunedTarget* Find(const Target& target) const;
  // Returns the measurements for a target. Adds an empty entry if there are none.
  TunedTarget& FindOrAdd(const Target& target);
};

}  // namespace kiln

#endif  // KILN_COMPILER_SCHEDULE_TUNING_H_
