// SPDX-License-Identifier: Apache-2.0
// The rows of models.json, each a test case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend.h"
#include "compiler/base/status.h"
#include "compiler/compile.h"
#include "compiler/graph/graph.h"
#include "compiler/target/target.h"
#include "runtime_cpp/model.h"
#include "tools/kiln/files.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/tensor_file.h"

namespace kiln {
namespace {

using runtime::NDArray;

struct Row {
  std::string name, model;
  std::vector<std::string> inputs, expected;  // "": not compared
  int64_t steps = 0;                          // 0: as many as the files have
  double scale = 1, offset = 0;
  std::optional<double> relative;
  double absolute = 0;
  bool keeps_state = false;
  std::vector<std::string> shapes, constants;
  std::string unsupported;
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
               .unsupported = json.value("unsupported", "")};
    if (json.contains("relative")) row.relative = json.at("relative");
    rows.push_back(std::move(row));
  }
  return rows;
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.model; }

// Some step of an array of steps, in another type.
absl::StatusOr<Tensor> Step(const Tensor& steps, int64_t step, const TensorType& type,
                            double scale = 1, double offset = 0) {
  const int64_t n = type.num_elements();
  if ((step + 1) * n > steps.type().num_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", steps.type().ToString(), ", wanted steps of ", type.ToString()));
  }
  if (scale == 1 && offset == 0 && steps.type().dtype == type.dtype) {
    const size_t bytes = static_cast<size_t>(type.num_bytes());
    return Tensor(type, steps.bytes().substr(static_cast<size_t>(step) * bytes, bytes));
  }
  std::string bytes;
  for (int64_t i = 0; i < n; ++i) {
    const double value = steps.AsDouble(step * n + i) * scale + offset;
    bytes += Tensor::Scalar(type.dtype, value).bytes();
  }
  return Tensor(type, std::move(bytes));
}

TensorType TypeOf(const runtime::TensorInfo& info) {
  DTypeKind kind = DTypeKind::kUInt;
  if (info.dtype.code == kDLFloat) kind = DTypeKind::kFloat;
  if (info.dtype.code == kDLInt) kind = DTypeKind::kInt;
  if (info.dtype.bits == 1) kind = DTypeKind::kBool;
  return {info.shape, {kind, info.dtype.bits}};
}

absl::StatusOr<NDArray> ToArray(const Tensor& tensor, const runtime::TensorInfo& info) {
  KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(info.shape, info.dtype));
  KILN_RETURN_IF_ERROR(array.CopyFromBytes(tensor.bytes()));
  return array;
}

// How far outputs are from what is expected.
struct Distance {
  double difference = 0, largest = 0;
  int64_t unequal = 0;
};

void Measure(const Tensor& found, const Tensor& wanted, Distance& distance) {
  for (int64_t i = 0; i < wanted.type().num_elements(); ++i) {
    const double f = found.AsDouble(i), w = wanted.AsDouble(i);
    const double difference = f == w ? 0 : std::abs(f - w);
    if (difference != 0) ++distance.unequal;
    // NaN is further away than all numbers.
    distance.difference =
        std::isnan(difference) ? INFINITY : std::max(distance.difference, difference);
    distance.largest = std::max(distance.largest, std::abs(w));
  }
}

// What the model keeps, by the names of its inputs, as it is before the first run.
std::map<std::string, double> InitialState(const Graph& graph) {
  std::map<std::string, double> state;
  if (!graph.attrs.Has("state_inputs")) return state;
  const auto& names = std::get<std::vector<AttrValue>>(graph.attrs.Get("state_inputs").value);
  const std::vector<double> values = graph.attrs.Floats("state_initial");
  for (size_t i = 0; i < names.size(); ++i) {
    state[std::get<std::string>(names[i].value)] = values[i];
  }
  return state;
}

class Case {
 public:
  Case(const Row& row, std::string folder) : row_(row), folder_(std::move(folder)) {}

  absl::Status Run() {
    absl::StatusOr<Graph> graph = tools::LoadModel(
        folder_ + "/" + row_.model, {.shapes = row_.shapes, .constants = row_.constants});
    if (!graph.ok()) return graph.status();
    state_ = InitialState(*graph);
    KILN_ASSIGN_OR_RETURN(const runtime::Model model, Load(*std::move(graph)));
    KILN_RETURN_IF_ERROR(ReadFiles());
    const int64_t per_step = TypeOf(model.inputs()[0]).num_elements();
    const int64_t there = inputs_[0].type().num_elements() / std::max<int64_t>(per_step, 1);
    steps_ = row_.steps == 0 ? there : std::min(row_.steps, there);
    std::map<std::string, NDArray> kept;
    for (int64_t step = 0; step < steps_; ++step) {
      if (!row_.keeps_state) kept.clear();
      KILN_RETURN_IF_ERROR(RunStep(model, step, kept));
    }
    return absl::OkStatus();
  }

  int64_t steps() const { return steps_; }
  const std::vector<Distance>& distances() const { return distances_; }

 private:
  static absl::StatusOr<runtime::Model> Load(Graph graph) {
    CompileOptions options;
    options.module_name = "conformance";
    KILN_ASSIGN_OR_RETURN(options.target, Target::Parse("host"));
    options.calling_convention =
        DefaultCallingConvention(options.runtime, options.interface, options.externals);
    KILN_RETURN_IF_ERROR(CheckOptions(options));
    KILN_ASSIGN_OR_RETURN(Compiled compiled, Compile(std::move(graph), options));
    const std::string folder = testing::TempDir();
    KILN_RETURN_IF_ERROR(
        tools::WriteFiles(folder, {{"conformance.so", compiled.artifacts["conformance.so"]}}));
    return runtime::Model::Load(folder + "/conformance.so");
  }

  absl::Status ReadFiles() {
    for (const std::string& path : row_.inputs) {
      KILN_ASSIGN_OR_RETURN(inputs_.emplace_back(), tools::ReadTensorFile(folder_ + "/" + path));
    }
    for (const std::string& path : row_.expected) {
      expected_.emplace_back();
      if (path.empty()) continue;
      KILN_ASSIGN_OR_RETURN(expected_.back(), tools::ReadTensorFile(folder_ + "/" + path));
    }
    distances_.resize(expected_.size());
    return absl::OkStatus();
  }

  absl::Status RunStep(const runtime::Model& model, int64_t step,
                       std::map<std::string, NDArray>& kept) {
    std::vector<NDArray> arrays;
    for (const runtime::TensorInfo& info : model.inputs()) {
      const TensorType type = TypeOf(info);
      if (kept.contains(info.name)) {
        arrays.push_back(kept[info.name]);
        continue;
      }
      Tensor value;
      if (state_.contains(info.name)) {
        value = Tensor::Filled(type, state_[info.name]);
      } else if (arrays.size() < inputs_.size()) {
        KILN_ASSIGN_OR_RETURN(value,
                              Step(inputs_[arrays.size()], step, type, row_.scale, row_.offset));
      } else {
        return absl::InvalidArgumentError(absl::StrCat("no file for the input '", info.name, "'"));
      }
      KILN_ASSIGN_OR_RETURN(arrays.emplace_back(), ToArray(value, info));
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, model.Run(arrays));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const runtime::TensorInfo& info = model.outputs()[i];
      const TensorType type = TypeOf(info);
      for (const auto& [name, initial] : state_) {
        if (info.name == name + ".next") kept[name] = outputs[i];
      }
      if (i >= expected_.size() || row_.expected[i].empty()) continue;
      if (expected_[i].type().dtype != type.dtype) {
        return absl::InvalidArgumentError(absl::StrCat("output '", info.name, "': found ",
                                                       type.ToString(), ", wanted steps of ",
                                                       expected_[i].type().ToString()));
      }
      KILN_ASSIGN_OR_RETURN(const Tensor wanted, Step(expected_[i], step, type));
      const Tensor found(type, std::string(static_cast<const char*>(outputs[i].data()),
                                           static_cast<size_t>(type.num_bytes())));
      Measure(found, wanted, distances_[i]);
    }
    return absl::OkStatus();
  }

  const Row& row_;
  const std::string folder_;
  std::vector<Tensor> inputs_, expected_;
  std::map<std::string, double> state_;
  std::vector<Distance> distances_;
  int64_t steps_ = 0;
};

class Conformance : public testing::TestWithParam<Row> {};

TEST_P(Conformance, AgreesWithTheOtherRuntime) {
  const Row& row = GetParam();
  const char* folder = std::getenv("KILN_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  if (!HasCodegen(Codegen::kLlvm)) GTEST_SKIP() << "the compiler is built without LLVM";
  Case c(row, folder);
  const absl::Status status = c.Run();
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

INSTANTIATE_TEST_SUITE_P(Models, Conformance, testing::ValuesIn(ReadRows()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln
