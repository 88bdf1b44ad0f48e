// SPDX-License-Identifier: Apache-2.0
// Runs the rows of labels.json: the answers of trained models on real images and sounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tests/conformance/stepped_model.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::conformance {
namespace {

using Json = nlohmann::json;

struct Row {
  std::string name;
  Json json;
};

std::vector<Row> ReadRows() {
  std::ifstream file("tests/conformance/labels.json");
  std::vector<Row> rows;
  for (const Json& json : Json::parse(file)) rows.push_back({json.at("name"), json});
  return rows;
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.json.at("says"); }

// Images in the files have the layout height, width, channels, with red first.
absl::StatusOr<Tensor> InputStep(const Json& row, const Tensor& steps, int64_t step,
                                 const TensorType& type) {
  const double scale = row.value("scale", 1.0), offset = row.value("offset", 0.0);
  const bool nchw = row.value("layout", "") == "nchw", bgr = row.value("channels", "") == "bgr";
  if (!nchw && !bgr && !row.contains("mean")) return Step(steps, step, type, scale, offset);
  constexpr int64_t kChannels = 3;
  const int64_t n = type.num_elements(), pixels = n / kChannels;
  if (pixels * kChannels != n || (step + 1) * n > steps.type().num_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", steps.type().ToString(), ", wanted images for ", type.ToString()));
  }
  const std::vector<double> mean = row.value("mean", std::vector<double>(kChannels, 0));
  const std::vector<double> deviation = row.value("deviation", std::vector<double>(kChannels, 1));
  std::vector<float> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t pixel = i / kChannels, c = i % kChannels, to = bgr ? kChannels - 1 - c : c;
    const size_t k = static_cast<size_t>(c);
    const double value = steps.AsDouble(step * n + i) * scale + offset;
    values[static_cast<size_t>(nchw ? to * pixels + pixel : pixel * kChannels + to)] =
        static_cast<float>((value - mean.at(k)) / deviation.at(k));
  }
  return Tensor::From<float>(type.shape, type.dtype, values);
}

// Outputs of the model by step, then by output.
using Answers = std::vector<std::vector<Tensor>>;

absl::StatusOr<Answers> Ask(const Json& row, const std::string& folder) {
  const std::vector<std::string> none;
  const Codegen codegen = HasCodegen(Codegen::kLlvm) ? Codegen::kLlvm : Codegen::kC;
  KILN_ASSIGN_OR_RETURN(const SteppedModel model,
                        SteppedModel::Compile(folder + row.at("model").get<std::string>(),
                                              {.shapes = row.value("shapes", none),
                                               .constants = row.value("constants", none)},
                                              codegen, UsualTarget(codegen)));
  std::vector<Tensor> files;
  for (const Json& path : row.at("inputs")) {
    KILN_ASSIGN_OR_RETURN(files.emplace_back(),
                          tools::ReadTensorFile(folder + path.get<std::string>()));
  }
  if (files.size() != model.inputs().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", files.size(), " files, wanted ", model.inputs().size(), " inputs"));
  }
  Answers answers;
  SteppedModel::State state;
  const int64_t steps = NumSteps(files[0], model.inputs()[0]);
  for (int64_t step = 0; step < steps; ++step) {
    if (row.value("state", "") != "kept") state.clear();
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < files.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(inputs.emplace_back(),
                            InputStep(row, files[i], step, model.inputs()[i]));
    }
    KILN_ASSIGN_OR_RETURN(answers.emplace_back(), model.Run(inputs, state));
  }
  return answers;
}

// Returns the index of the first largest element.
int64_t Top(const Tensor& tensor) {
  int64_t top = 0;
  for (int64_t i = 1; i < tensor.type().num_elements(); ++i) {
    if (tensor.AsDouble(i) > tensor.AsDouble(top)) top = i;
  }
  return top;
}

std::vector<int64_t> Tops(const Answers& answers) {
  std::vector<int64_t> tops;
  for (const std::vector<Tensor>& outputs : answers) tops.push_back(Top(outputs[0]));
  return tops;
}

Tensor FileOf(const Json& path, const std::string& folder) {
  absl::StatusOr<Tensor> file = tools::ReadTensorFile(folder + path.get<std::string>());
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : Tensor::Scalar(DType::UInt(8), 0);
}

const Tensor& OutputOf(const Json& check, const Answers& answers) {
  return answers[0].at(check.at("output").get<size_t>());
}

// Rounds `found` to the number of decimals in which figures are stated.
double Rounded(double found, int digits) {
  const double unit = std::pow(10, digits);
  return std::round(found * unit) / unit;
}

void CheckAccuracy(const Json& check, const Answers& answers, const std::string& folder) {
  const Tensor classes = FileOf(check.at("classes"), folder);
  const std::vector<int64_t> tops = Tops(answers);
  ASSERT_LE(tops.size(), static_cast<size_t>(classes.type().num_elements()));
  double right = 0;
  for (size_t i = 0; i < tops.size(); ++i) {
    if (tops[i] == classes.AsInt(static_cast<int64_t>(i))) ++right;
  }
  EXPECT_EQ(Rounded(right / static_cast<double>(tops.size()), 3),
            check.at("accuracy").get<double>());
}

void CheckLabel(const Json& check, const Answers& answers, const std::string& folder) {
  std::ifstream file(folder + check.at("names").get<std::string>());
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  ASSERT_EQ(names.size(), 1001u);
  const size_t top = static_cast<size_t>(Tops(answers)[0]) + check.at("first").get<size_t>();
  ASSERT_LT(top, names.size());
  EXPECT_TRUE(absl::StrContains(names[top], check.at("label").get<std::string>())) << names[top];
}

// Checks the mean square of the difference between the input and its reconstruction.
void CheckAnomalyScore(const Json& check, const Answers& answers, const std::string& folder) {
  const Tensor wanted = FileOf(check.at("of"), folder);
  const double scale = check.value("scale", 1.0), offset = check.value("offset", 0.0);
  double sum = 0;
  int64_t at = 0;
  for (const std::vector<Tensor>& outputs : answers) {
    const int64_t n = outputs[0].type().num_elements();
    ASSERT_LE(at + n, wanted.type().num_elements());
    for (int64_t i = 0; i < n; ++i, ++at) {
      sum += std::pow(wanted.AsDouble(at) - (outputs[0].AsDouble(i) * scale + offset), 2);
    }
  }
  EXPECT_EQ(at, wanted.type().num_elements());
  EXPECT_EQ(Rounded(sum / static_cast<double>(at), 4), check.at("anomaly_score").get<double>());
}

// Counts the elements `first`, `first` + `every` and so on (a column of a table) that are above
// `bound`.
int64_t CountAbove(const Tensor& tensor, double bound, int64_t every, int64_t first) {
  int64_t count = 0;
  for (int64_t i = first; i < tensor.type().num_elements(); i += every) {
    if (tensor.AsDouble(i) > bound) ++count;
  }
  return count;
}

// Rows of the output: the score, four numbers of the box, and one row per class. Each row has an
// element per cell.
void CheckObjects(const Json& check, const Tensor& output) {
  constexpr int64_t kClasses = 80, kFirstClass = 5;
  const int64_t cells = output.type().num_elements() / (kFirstClass + kClasses);
  int64_t objects = 0;
  for (int64_t cell = 0; cell < cells; ++cell) {
    if (output.AsDouble(cell) <= check.at("above").get<double>()) continue;
    ++objects;
    int64_t top = 0;
    for (int64_t c = 1; c < kClasses; ++c) {
      const auto score = [&](int64_t k) {
        return output.AsDouble((kFirstClass + k) * cells + cell);
      };
      if (score(c) > score(top)) top = c;
    }
    EXPECT_GE(top, check.at("from").get<int64_t>());
    EXPECT_LE(top, check.at("to").get<int64_t>());
  }
  EXPECT_GE(objects, check.at("objects").get<int64_t>());
}

void CheckEquals(const Tensor& wanted, const Answers& answers) {
  int64_t at = 0;
  for (const std::vector<Tensor>& outputs : answers) {
    const int64_t n = outputs[0].type().num_elements();
    ASSERT_LE(at + n, wanted.type().num_elements());
    for (int64_t i = 0; i < n; ++i, ++at) EXPECT_EQ(outputs[0].AsDouble(i), wanted.AsDouble(at));
  }
  EXPECT_EQ(at, wanted.type().num_elements());
}

void Check(const Json& check, const Answers& answers, const std::string& folder) {
  if (check.contains("accuracy")) {
    CheckAccuracy(check, answers, folder);
  } else if (check.contains("top")) {
    EXPECT_EQ(Tops(answers), check.at("top").get<std::vector<int64_t>>());
  } else if (check.contains("label")) {
    CheckLabel(check, answers, folder);
  } else if (check.contains("values")) {
    std::vector<double> values;
    for (const std::vector<Tensor>& outputs : answers) values.push_back(outputs[0].AsDouble(0));
    EXPECT_EQ(values, check.at("values").get<std::vector<double>>());
  } else if (check.contains("anomaly_score")) {
    CheckAnomalyScore(check, answers, folder);
  } else if (check.contains("equals")) {
    CheckEquals(FileOf(check.at("equals"), folder), answers);
  } else if (check.contains("largest")) {
    const Tensor& output = OutputOf(check, answers);
    EXPECT_EQ(Rounded(output.AsDouble(Top(output)), 3), check.at("largest").get<double>());
  } else if (check.contains("silence")) {
    EXPECT_LT(answers[0][0].AsDouble(0), check.at("silence").get<double>());
  } else if (check.contains("several")) {
    EXPECT_GE(CountAbove(OutputOf(check, answers), check.at("above"), check.at("every"),
                         check.at("first")),
              check.at("several").get<int64_t>());
  } else {
    CheckObjects(check, answers[0][0]);
  }
}

class Labels : public testing::TestWithParam<Row> {};

TEST_P(Labels, AreAsTheDataSays) {
  const char* data = std::getenv("KILN_SHARED_DATA");
  if (data == nullptr || *data == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  const std::string folder = absl::StrCat(data, "/");
  const Json& row = GetParam().json;
  const absl::StatusOr<Answers> answers = Ask(row, folder);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_FALSE(answers->empty());
  Check(row.at("check"), *answers, folder);
}

INSTANTIATE_TEST_SUITE_P(Data, Labels, testing::ValuesIn(ReadRows()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln::conformance
