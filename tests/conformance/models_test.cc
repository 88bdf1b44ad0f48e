// SPDX-License-Identifier: Apache-2.0
// Runs the rows of models.json. Each row is a test case for each code generator on this machine and
// for further levels of x86-64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/target.h"
#include "tests/conformance/stepped_model.h"
#include "tests/equality/runs_here.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::conformance {
namespace {

struct Row {
  std::string name, model;
  std::vector<std::string> inputs, expected;  // "": not compared
  int64_t steps = 0;                          // 0: all steps of the files
  double scale = 1, offset = 0;
  std::optional<double> relative;
  double absolute = 0;
  bool keeps_state = false;
  std::vector<std::string> shapes, constants;
  std::string unsupported;
  std::string not_c;  // reason to leave the row out for the C code generator, or ""
  bool large = false;
  size_t number = 0;  // index of the model in the table
};

// Code generator and target of a compilation.
struct Build {
  Codegen codegen;
  std::string target;
};

std::vector<std::string> Paths(const nlohmann::json& list) {
  std::vector<std::string> paths;
  for (const nlohmann::json& path : list) {
    paths.push_back(path.is_null() ? "" : path.get<std::string>());
  }
  return paths;
}

std::vector<Row> ReadRows() {
  std::ifstream file("tests/conformance/models.json");
  std::vector<Row> rows;
  std::map<std::string, size_t> numbers;
  for (const nlohmann::json& json : nlohmann::json::parse(file)) {
    Row row = {.name = json.at("name"),
               .model = json.at("model"),
               .inputs = Paths(json.at("inputs")),
               .expected = Paths(json.at("expected")),
               .steps = json.value("steps", int64_t{0}),
               .scale = json.value("scale", 1.0),
               .offset = json.value("offset", 0.0),
               .absolute = json.value("absolute", 0.0),
               .keeps_state = json.value("state", "") == "kept",
               .shapes = Paths(json.value("shapes", nlohmann::json::array())),
               .constants = Paths(json.value("constants", nlohmann::json::array())),
               .unsupported = json.value("unsupported", ""),
               .not_c = json.value("not_c", ""),
               .large = json.value("large", false)};
    row.number = numbers.emplace(row.model, numbers.size()).first->second;
    if (json.contains("relative")) row.relative = json.at("relative");
    rows.push_back(std::move(row));
  }
  return rows;
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.model; }
void PrintTo(const Build& build, std::ostream* out) { *out << build.target; }

// Differences between outputs and expected values.
struct Distance {
  double difference = 0, largest = 0;
  int64_t unequal = 0;
};

void Measure(const Tensor& found, const Tensor& wanted, Distance& distance) {
  for (int64_t i = 0; i < wanted.type().num_elements(); ++i) {
    const double f = found.AsDouble(i), w = wanted.AsDouble(i);
    const double difference = f == w ? 0 : std::abs(f - w);
    if (difference != 0) ++distance.unequal;
    // NaN counts as an infinite difference.
    distance.difference =
        std::isnan(difference) ? INFINITY : std::max(distance.difference, difference);
    distance.largest = std::max(distance.largest, std::abs(w));
  }
}

// Returns the compiled model. Rows that differ only in their data files share it.
absl::StatusOr<const SteppedModel*> CompiledOnce(const Row& row, const std::string& folder,
                                                 const Build& build) {
  static std::map<std::string, SteppedModel>* const models =
      new std::map<std::string, SteppedModel>();
  const std::string key =
      absl::StrCat(build.codegen == Codegen::kC ? "c" : "llvm", " ", build.target, " ", row.model,
                   " ", absl::StrJoin(row.shapes, " "), " ", absl::StrJoin(row.constants, " "));
  auto it = models->find(key);
  if (it == models->end()) {
    KILN_ASSIGN_OR_RETURN(SteppedModel model,
                          SteppedModel::Compile(folder + "/" + row.model,
                                                {.shapes = row.shapes, .constants = row.constants},
                                                build.codegen, build.target));
    it = models->emplace(key, std::move(model)).first;
  }
  return &it->second;
}

class Case {
 public:
  Case(const Row& row, std::string folder) : row_(row), folder_(std::move(folder)) {}

  absl::Status Run(const Build& build) {
    KILN_ASSIGN_OR_RETURN(const SteppedModel* model, CompiledOnce(row_, folder_, build));
    KILN_RETURN_IF_ERROR(ReadFiles());
    if (inputs_.size() != model->inputs().size()) {
      return absl::InvalidArgumentError(absl::StrCat("found ", inputs_.size(), " files, wanted ",
                                                     model->inputs().size(), " inputs"));
    }
    steps_ = NumSteps(inputs_[0], model->inputs()[0]);
    if (row_.steps != 0) steps_ = std::min(row_.steps, steps_);
    const bool is_first = build.codegen == Codegen::kLlvm && build.target == "host";
    if (!is_first) steps_ = std::min(kFewSteps, steps_);
    SteppedModel::State state;
    for (int64_t step = 0; step < steps_; ++step) {
      if (!row_.keeps_state) state.clear();
      KILN_RETURN_IF_ERROR(RunStep(*model, step, state));
    }
    return absl::OkStatus();
  }

  int64_t steps() const { return steps_; }
  const std::vector<Distance>& distances() const { return distances_; }

 private:
  // All builds have the same operators. LLVM's code for the host runs all steps, and so covers
  // errors that the first steps do not show.
  static constexpr int64_t kFewSteps = 5;

  // Reads an input. "arange:1x3x224x224" has the values i / n, with n elements. "lcg7:4x3" has
  // values from -1 to 1 by the generator that the data describes, with the seed 7. Other texts are
  // files.
  absl::StatusOr<Tensor> ReadInput(absl::string_view path) const {
    const size_t colon = path.find(':');
    absl::string_view kind = path.substr(0, colon);
    uint32_t state = 0;
    const bool by_seed = absl::ConsumePrefix(&kind, "lcg") && absl::SimpleAtoi(kind, &state);
    if (colon == absl::string_view::npos || (!by_seed && kind != "arange")) {
      return tools::ReadTensorFile(absl::StrCat(folder_, "/", path));
    }
    Shape shape;
    for (const absl::string_view extent : absl::StrSplit(path.substr(colon + 1), 'x')) {
      if (!absl::SimpleAtoi(extent, &shape.emplace_back())) {
        return absl::InvalidArgumentError(absl::StrCat("found ", path, ", wanted a shape"));
      }
    }
    std::vector<float> values(static_cast<size_t>(NumElements(shape)));
    for (size_t i = 0; i < values.size(); ++i) {
      state = state * 1664525 + 1013904223;
      values[i] =
          by_seed ? static_cast<float>(state >> 8) / 8388608.0F - 1.0F
                  : static_cast<float>(static_cast<double>(i) / static_cast<double>(values.size()));
    }
    return Tensor::From<float>(shape, DType::Float(32), values);
  }

  absl::Status ReadFiles() {
    for (const std::string& path : row_.inputs) {
      KILN_ASSIGN_OR_RETURN(inputs_.emplace_back(), ReadInput(path));
    }
    for (const std::string& path : row_.expected) {
      expected_.emplace_back();
      if (path.empty()) continue;
      KILN_ASSIGN_OR_RETURN(expected_.back(), tools::ReadTensorFile(folder_ + "/" + path));
    }
    distances_.resize(expected_.size());
    return absl::OkStatus();
  }

  absl::Status RunStep(const SteppedModel& model, int64_t step, SteppedModel::State& state) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(inputs.emplace_back(),
                            Step(inputs_[i], step, model.inputs()[i], row_.scale, row_.offset));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, model.Run(inputs, state));
    for (size_t i = 0; i < outputs.size() && i < expected_.size(); ++i) {
      if (row_.expected[i].empty()) continue;
      const TensorType& type = outputs[i].type();
      if (expected_[i].type().dtype != type.dtype) {
        return absl::InvalidArgumentError(
            absl::StrCat("output '", model.output_names()[i], "': found ", type.ToString(),
                         ", wanted steps of ", expected_[i].type().ToString()));
      }
      KILN_ASSIGN_OR_RETURN(const Tensor wanted, Step(expected_[i], step, type));
      Measure(outputs[i], wanted, distances_[i]);
    }
    return absl::OkStatus();
  }

  const Row& row_;
  const std::string folder_;
  std::vector<Tensor> inputs_, expected_;
  std::vector<Distance> distances_;
  int64_t steps_ = 0;
};

class Conformance : public testing::TestWithParam<std::tuple<Build, Row>> {};

TEST_P(Conformance, AgreesWithTheOtherRuntime) {
  const auto& [build, row] = GetParam();
  const char* folder = std::getenv("KILN_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  if (!HasCodegen(build.codegen)) GTEST_SKIP() << "the compiler is built without LLVM";
  if (build.codegen == Codegen::kC && !row.not_c.empty()) GTEST_SKIP() << row.not_c;
  const absl::StatusOr<Target> target = Target::Parse(build.target);
  ASSERT_TRUE(target.ok()) << target.status();
  if (!equality::RunsHere(*target)) GTEST_SKIP() << "this machine is no " << build.target;
  Case c(row, folder);
  const absl::Status status = c.Run(build);
  if (!row.unsupported.empty()) {
    ASSERT_FALSE(status.ok()) << "the model is supported: its row must say how close it is";
    EXPECT_TRUE(absl::StrContains(status.message(), row.unsupported)) << status.message();
    return;
  }
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_GT(c.steps(), 0);
  for (size_t i = 0; i < c.distances().size(); ++i) {
    if (row.expected[i].empty()) continue;
    const Distance& distance = c.distances()[i];
    const double relative =
        distance.largest == 0 ? distance.difference : distance.difference / distance.largest;
    RecordProperty(absl::StrCat("relative_difference_", i), absl::StrCat(relative));
    RecordProperty(absl::StrCat("unequal_values_", i), absl::StrCat(distance.unequal));
    if (row.relative.has_value()) {
      if (distance.difference <= row.absolute) continue;
      EXPECT_LE(relative, *row.relative) << "output " << i;
    } else {
      EXPECT_EQ(distance.unequal, 0)
          << "output " << i << ": largest difference " << distance.difference;
    }
  }
}

// Returns the rows for level `i` of the further targets. LLVM compiles small models for all levels,
// and large ones for one level. C compiles small models for one level, and large ones for none.
std::vector<Row> RowsOf(Codegen codegen, size_t i) {
  std::vector<Row> rows;
  for (Row& row : ReadRows()) {
    if (!row.not_c.empty() || (codegen == Codegen::kC && row.large)) continue;
    const bool all = codegen == Codegen::kLlvm && !row.large;
    if (all || row.number % 3 == i) rows.push_back(std::move(row));
  }
  return rows;
}

auto Builds(Codegen codegen, const std::string& target, const std::vector<Row>& rows) {
  return testing::Combine(testing::Values(Build{codegen, target}), testing::ValuesIn(rows));
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Build, Row>>& info) {
  return std::get<1>(info.param).name;
}

constexpr Codegen kLlvm = Codegen::kLlvm, kC = Codegen::kC;
INSTANTIATE_TEST_SUITE_P(Llvm, Conformance, Builds(kLlvm, UsualTarget(kLlvm), ReadRows()), NameOf);
INSTANTIATE_TEST_SUITE_P(C, Conformance, Builds(kC, UsualTarget(kC), ReadRows()), NameOf);
INSTANTIATE_TEST_SUITE_P(LlvmV2, Conformance, Builds(kLlvm, "x86-64-v2", RowsOf(kLlvm, 0)), NameOf);
INSTANTIATE_TEST_SUITE_P(LlvmV3, Conformance, Builds(kLlvm, "x86-64-v3", RowsOf(kLlvm, 1)), NameOf);
INSTANTIATE_TEST_SUITE_P(LlvmV4, Conformance, Builds(kLlvm, "x86-64-v4", RowsOf(kLlvm, 2)), NameOf);
INSTANTIATE_TEST_SUITE_P(CV2, Conformance, Builds(kC, "x86-64-v2", RowsOf(kC, 0)), NameOf);
INSTANTIATE_TEST_SUITE_P(CV3, Conformance, Builds(kC, "x86-64-v3", RowsOf(kC, 1)), NameOf);
INSTANTIATE_TEST_SUITE_P(CV4, Conformance, Builds(kC, "x86-64-v4", RowsOf(kC, 2)), NameOf);

}  // namespace
}  // namespace kiln::conformance
