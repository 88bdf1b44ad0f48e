// SPDX-License-Identifier: Apache-2.0
#include "compiler/tuning/tuning_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "compiler/tuning/tuning.pb.h"

namespace kiln {
namespace {

using Algorithm = ContractionChoice::Algorithm;

// Keeps the first error of the parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    // Errors of the file as a whole have line -1.
    if (text_.empty()) text_ = absl::StrCat(std::max(line, 0) + 1, ":", column + 1, ": ", message);
  }
  void AddWarning(int line, google::protobuf::io::ColumnNumber column,
                  const std::string& message) override {
    AddError(line, column, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::StatusOr<TunedContraction> ContractionOf(const proto::TuningFile::Contraction& from) {
  TunedContraction tuned{.choice = std::nullopt,
                         .default_microseconds = from.default_microseconds(),
                         .microseconds = from.microseconds()};
  if (from.has_direct()) {
    const proto::TuningFile::Direct& direct = from.direct();
    const bool outside = direct.outside() == proto::TuningFile::COLUMNS;
    if (!outside && direct.outside() != proto::TuningFile::ROWS) {
      return absl::InvalidArgumentError(
          absl::StrCat("outside: found ", direct.outside(), ", wanted ROWS or COLUMNS"));
    }
    tuned.choice = {.outer_rows = direct.outer_rows() == 0 ? 1 : direct.outer_rows(),
                    .rows = direct.rows(),
                    .vectors = direct.vectors(),
                    .columns_outside = outside};
  } else if (from.has_winograd()) {
    const proto::TuningFile::Winograd& winograd = from.winograd();
    tuned.choice = {.algorithm = Algorithm::kWinograd,
                    .rows = winograd.rows(),
                    .vectors = winograd.vectors(),
                    .outputs = winograd.outputs(),
                    .block_rows = winograd.block_rows()};
  }
  return tuned;
}

absl::StatusOr<TunedTarget> TargetOf(const proto::TuningFile::Target& from) {
  TunedTarget target{.name = from.name(),
                     .triple = from.triple(),
                     .cpu = from.cpu(),
                     .features = from.features(),
                     .cores = from.cores(),
                     .contractions = {}};
  for (const proto::TuningFile::Contraction& contraction : from.contractions()) {
    const std::string where = absl::StrCat("contraction '", contraction.problem(), "': ");
    auto tuned = ContractionOf(contraction);
    if (!tuned.ok()) return Annotate(tuned.status(), where);
    if (!target.contractions.emplace(contraction.problem(), *std::move(tuned)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, "found a second entry for it, wanted one for each problem"));
    }
  }
  return target;
}

double RoundedMicroseconds(double microseconds) { return std::round(microseconds * 100) / 100; }

void SetChoice(const ContractionChoice& choice, proto::TuningFile::Contraction& to) {
  if (choice.algorithm == Algorithm::kWinograd) {
    proto::TuningFile::Winograd& winograd = *to.mutable_winograd();
    winograd.set_outputs(choice.outputs);
    winograd.set_block_rows(choice.block_rows);
    winograd.set_rows(choice.rows);
    winograd.set_vectors(choice.vectors);
    return;
  }
  proto::TuningFile::Direct& direct = *to.mutable_direct();
  if (choice.outer_rows != 1) direct.set_outer_rows(choice.outer_rows);
  direct.set_rows(choice.rows);
  direct.set_vectors(choice.vectors);
  if (choice.columns_outside) direct.set_outside(proto::TuningFile::COLUMNS);
}

}  // namespace

absl::StatusOr<Tuning> ParseTuning(absl::string_view text, const std::string& file) {
  const auto size = static_cast<int64_t>(text.size());
  if (size > kMaxTuningFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": found ", size, " bytes, wanted a tuning file of at most ", kMaxTuningFileBytes));
  }
  proto::TuningFile parsed;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &parsed) || !error.text().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", error.text(), "; wanted a tuning file as kiln tune writes it"));
  }
  Tuning tuning{.file = file, .sha256 = Sha256(text), .targets = {}};
  for (const proto::TuningFile::Target& from : parsed.targets()) {
    const std::string where = absl::StrCat(file, ": target '", from.name(), "': ");
    absl::StatusOr<TunedTarget> target = TargetOf(from);
    if (!target.ok()) return Annotate(target.status(), where);
    for (const TunedTarget& other : tuning.targets) {
      if (other.IsAlike(*target)) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "found a second section for it, wanted one for each target"));
      }
    }
    tuning.targets.push_back(*std::move(target));
  }
  return tuning;
}

std::string PrintTuning(const Tuning& tuning, absl::string_view header) {
  proto::TuningFile file;
  for (const TunedTarget& from : tuning.targets) {
    proto::TuningFile::Target& target = *file.add_targets();
    target.set_name(from.name);
    target.set_triple(from.triple);
    target.set_cpu(from.cpu);
    target.set_features(from.features);
    target.set_cores(from.cores);
    for (const auto& [problem, tuned] : from.contractions) {
      proto::TuningFile::Contraction& contraction = *target.add_contractions();
      contraction.set_problem(problem);
      if (tuned.choice.has_value()) SetChoice(*tuned.choice, contraction);
      contraction.set_default_microseconds(RoundedMicroseconds(tuned.default_microseconds));
      contraction.set_microseconds(RoundedMicroseconds(tuned.microseconds));
    }
  }
  std::string body;
  google::protobuf::TextFormat::PrintToString(file, &body);
  std::string text;
  for (absl::string_view line : absl::StrSplit(header, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, "# ", line, "\n");
  }
  return text + body;
}

}  // namespace kiln
