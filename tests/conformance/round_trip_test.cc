// SPDX-License-Identifier: Apache-2.0
// Prints imported models as Relay text with their constants, and reads them back. The graphs must
// be equal. For some, the results on every engine must be equal to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/relay_text.h"
#include "compiler/import/import.h"
#include "compiler/ops/op_def.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"
#include "tools/kiln/files.h"
#include "tools/kiln/load_model.h"
#include "tools/kiln/tensor_file.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Cases of ONNX's operators from Debian's package libonnx-testdata.
constexpr char kNodeCases[] = "/usr/share/libonnx-testdata/data/node";
constexpr int64_t kMaxModelBytes = int64_t{1} << 30;

// Returns the graph that is read back from the graph's text. The test fails if they differ.
Graph ReadBack(const Graph& graph, const std::string& name) {
  const absl::StatusOr<Graph> again = ParseRelay(PrintRelay(graph), "printed.relay", FindOpSchema);
  EXPECT_TRUE(again.ok()) << name << ": " << again.status();
  if (!again.ok()) return {};
  EXPECT_TRUE(*again == graph) << name << "\n"
                               << PrintRelay(graph, {.metadata = false}).substr(0, 4000);
  return *again;
}

// ---- The models of models.json.

struct Row {
  std::string name, model;
  tools::InputFlags flags;
};

// Returns the rows whose models can be imported, once per model.
std::vector<Row> ReadRows() {
  std::ifstream file("tests/conformance/models.json");
  std::map<std::string, Row> rows;
  for (const nlohmann::json& json : nlohmann::json::parse(file)) {
    if (json.contains("unsupported")) continue;
    Row row = {.name = json.at("name"), .model = json.at("model"), .flags = {}};
    for (const char* key : {"shapes", "constants"}) {
      std::vector<std::string>& list =
          key == std::string("shapes") ? row.flags.shapes : row.flags.constants;
      for (const nlohmann::json& text : json.value(key, nlohmann::json::array())) {
        list.push_back(text);
      }
    }
    rows.emplace(row.model, std::move(row));
  }
  std::vector<Row> list;
  for (auto& [model, row] : rows) list.push_back(std::move(row));
  return list;
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.model; }

class ModelRoundTrip : public testing::TestWithParam<Row> {};

TEST_P(ModelRoundTrip, TheTextReadsBackAsTheGraph) {
  const Row& row = GetParam();
  const char* folder = std::getenv("KILN_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  const absl::StatusOr<Graph> graph =
      tools::LoadModel(absl::StrCat(folder, "/", row.model), row.flags);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ReadBack(*graph, row.model);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelRoundTrip, testing::ValuesIn(ReadRows()),
                         [](const auto& info) { return info.param.name; });

// ---- ONNX's cases.

// Imports a case's model for the shapes of its inputs. Inputs that must be constant get the case's
// values.
absl::StatusOr<Graph> Import(const fs::path& folder) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes,
                        tools::ReadFile(folder / "model.onnx", kMaxModelBytes));
  KILN_ASSIGN_OR_RETURN(const onnx_frontend::ModelInterface interface,
                        onnx_frontend::ReadInterface(bytes, "m.onnx"));
  onnx_frontend::ImportOptions options;
  std::map<std::string, Tensor> values;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const fs::path file = folder / absl::StrCat("test_data_set_0/input_", i, ".pb");
    if (interface.inputs[i].kind != "tensor" || !fs::exists(file)) break;
    const std::string& name = interface.inputs[i].name;
    KILN_ASSIGN_OR_RETURN(values[name], tools::ReadTensorFile(file));
    options.pins.push_back({name, values[name].type().shape, {}});
  }
  for (;;) {
    absl::StatusOr<Graph> graph = ImportModel(bytes, "m.onnx", options);
    if (graph.ok()) return graph;
    const size_t before = options.constants.size();
    for (const std::string& name : onnx_frontend::InputsToFix(graph.status())) {
      if (values.contains(name)) options.constants[name] = values[name];
    }
    if (options.constants.size() == before) return graph;
  }
}

TEST(OnnxCases, TheTextsReadBackAsTheGraphs) {
  if (!fs::exists(kNodeCases)) {
    GTEST_SKIP() << kNodeCases << " is not there; the package libonnx-testdata has it";
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kNodeCases)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  int imported = 0;
  std::vector<equality::Case> before, after;
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::string name = folders[i].filename();
    absl::StatusOr<Graph> graph = Import(folders[i]);
    if (!graph.ok()) continue;  // onnx_test.py checks which cases are refused
    ++imported;
    Graph again = ReadBack(*graph, name);
    ASSERT_FALSE(HasFailure());
    if (i % 40 != 0) continue;
    std::vector<Tensor> inputs;
    for (ValueId input : graph->inputs) {
      inputs.push_back(equality::RandomValues(graph->type(input), 1, -2, 2));
    }
    before.push_back({name, *std::move(graph), inputs});
    after.push_back({name, std::move(again), std::move(inputs)});
  }
  EXPECT_GE(imported, 850);
  EXPECT_GE(before.size(), 15u);
  const auto wanted = equality::RunOnAllEngines(before, {.target = Target::Host()});
  const auto found = equality::RunOnAllEngines(after, {.target = Target::Host()});
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(wanted[i].empty()) << before[i].name;
    EXPECT_EQ(equality::Difference(found[i], wanted[i], 0), "") << before[i].name;
  }
}

}  // namespace
}  // namespace kiln
